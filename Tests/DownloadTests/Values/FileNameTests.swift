#if HTTP
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct FileNameTests {
    @Test(arguments: [
      ("https://example.org/a/b.zip", "b.zip"),
      ("https://example.org/a/b.zip?x=/etc/passwd#c", "b.zip"),
      ("https://example.org/na%C3%AFve%20file.txt", "naïve file.txt"),
      ("https://example.org/..%2F..%2Fetc%2Fpasswd", "passwd"),
      ("https://example.org/%2e%2e", "download"),
      ("https://example.org/a%00b", "ab"),
      ("https://example.org/.bashrc", "bashrc"),
      ("https://example.org/folder/", "download"),
      ("https://example.org", "download"),
      ("https://example.org/%FF%FE.bin", "%FF%FE.bin"),
    ]) func `A URL gives its last component, made harmless`(url: String, name: String) throws {
      #expect(FileName(of: try #require(URL(string: url))).description == name)
    }

    @Test(arguments: [
      ("../../etc/passwd", "passwd"),
      ("/etc/passwd", "passwd"),
      ("..\\..\\boot.ini", "boot.ini"),
      ("..", "download"),
      ("...", "download"),
      ("", "download"),
      ("a\u{1b}[31mb.txt", "a[31mb.txt"),
      ("photo\u{202e}gpj.exe", "photogpj.exe"),
      (" .profile ", "profile"),
      ("日本語.txt", "日本語.txt"),
      ("👩‍👩‍👧.png", "👩‍👩‍👧.png"),
      ("a/", "a"),
      // Names of parts and records are not for servers to give.
      ("big.iso.part", "big.iso.part-"),
      ("big.iso.PART.json", "big.iso.PART.json-"),
      ("x.part1.rar", "x.part1.rar"),
      // To a character, these are no separators and no dots.
      ("/\u{e0061}tmp/\u{e0061}evil", "evil"),
      ("..\u{301}/\u{301}x", "\u{301}x"),
      ("a\\\u{e0061}b", "b"),
      (".\u{e0061}profile", "profile"),
    ]) func `Whatever a server wishes, the name stays in its folder`(wish: String, name: String) {
      #expect(FileName(harmless: wish).description == name)
    }

    @Test func `Whatever scalars a name is made of, it is one component`() {
      let scalars = [
        "/", "\\", ".", "a", "\u{301}", "\u{e0061}", "\u{200d}", "\u{0}", "\u{202e}", " ", "\u{1f468}", "\r\n",
      ]
      var random = SystemRandomNumberGenerator()
      for _ in 0..<20_000 {
        let wish = (0..<6).map { _ in scalars.randomElement(using: &random)! }.joined()
        let bytes = Array(FileName(harmless: wish).description.utf8)
        #expect(!bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0), "\(Array(wish.unicodeScalars))")
        #expect(bytes.first != UInt8(ascii: ".") && !bytes.isEmpty, "\(Array(wish.unicodeScalars))")
      }
    }

    @Test func `A name apart is the same each time, another for each URL, and no longer than a name may be`() {
      let name = FileName(harmless: "download.php")
      #expect(name.apart(for: "a") == name.apart(for: "a"))
      #expect(name.apart(for: "a") != name.apart(for: "b"))
      #expect(name.apart(for: "a").description.hasPrefix("download.php~"))
      let long = FileName(harmless: String(repeating: "x", count: 300) + ".iso")
      #expect(long.apart(for: "a").record.utf8.count <= 255)
      #expect(long.apart(for: "a") != long.apart(for: "b"))
    }

    @Test func `A long name is cut between characters, keeps its ending, and leaves room for the names beside it`() {
      let name = FileName(harmless: String(repeating: "é", count: 400) + ".tar.gz")
      #expect(name.record.utf8.count <= 255)
      #expect(name.record.utf8.count > 250)
      #expect(name.description.hasSuffix("é.gz"))
    }

    @Test func `A name that somebody gives is taken as it is, or not at all`() {
      #expect(FileName(exactly: ".hidden")?.description == ".hidden")
      #expect(FileName(exactly: "a b.txt")?.part == "a b.txt.part")
      for name in ["", ".", "..", "a/b", "a\0b", "a\nb", String(repeating: "x", count: 246)] {
        #expect(FileName(exactly: name) == nil)
      }
    }

    @Test(
      arguments: [
        ("attachment; filename=\"a b.zip\"", "a b.zip"),
        ("attachment; filename=plain.zip", "plain.zip"),
        ("attachment; FileName = plain.zip ; size=3", "plain.zip"),
        ("attachment; filename=\"quoted \\\"name\\\".zip\"", "quoted \"name\".zip"),
        ("attachment; filename=\"semi;colon.zip\"", "semi;colon.zip"),
        ("attachment; filename=old.txt; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
        ("attachment; filename*=ISO-8859-1''na%EFve.txt", "naïve.txt"),
        ("attachment; filename*=UTF-8''%FF; filename=kept.txt", "kept.txt"),
        ("attachment; filename*=nonsense; filename=kept.txt", "kept.txt"),
        ("inline", nil),
        ("", nil),
      ] as [(String, String?)]) func `Content-Disposition names a file`(header: String, name: String?)
    {
      #expect(ContentDisposition.fileName(in: header) == name)
    }
  }
#endif
