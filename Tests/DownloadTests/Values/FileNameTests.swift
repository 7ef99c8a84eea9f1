#if HTTP
  import DurableJobs
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
      ("big.iso.part", "big.iso-part"),
      ("big.iso.PART.json", "big.iso-PART.json"),
      ("big.iso~1a2b3c4d.new.part", "big.iso~1a2b3c4d.new-part"),
      ("x.part1.rar", "x.part1.rar"),
      // Some file systems drop these ends, and some pass over what is not to be seen, or know small from long letters.
      ("big.iso.part. .", "big.iso-part"),
      ("big.iso.pa\u{200d}rt", "big.iso-pa\u{200d}rt"),
      ("big.iso.part\u{fe0f}", "big.iso-part\u{fe0f}"),
      ("big.iso.part.j\u{17f}on", "big.iso-part.j\u{17f}on"),
      ("big.iso\u{d4e}.part", "big.iso\u{d4e}-part"),
      ("-rf", "rf"),
      ("--", "download"),
      ("\u{200d}.bashrc", "bashrc"),
      // To a character, these are no separators and no dots.
      ("/\u{e0061}tmp/\u{e0061}evil", "evil"),
      ("..\u{301}/\u{301}x", "\u{301}x"),
      ("a\\\u{e0061}b", "b"),
      (".\u{e0061}profile", "profile"),
    ]) func `Whatever a server wishes, the name stays in its folder`(wish: String, name: String) {
      #expect(FileName(harmless: wish).description == name)
    }

    @Test(arguments: [
      ("other.sqlite-journal", "other.sqlite_journal"), ("other.sqlite-WAL", "other.sqlite_WAL"),
      ("other.sqlite-shm. ", "other.sqlite_shm"), ("other.sqlite-w\u{200d}al", "other.sqlite_w\u{200d}al"),
      ("-wal", "wal"), ("journal", "journal"), ("a-journal.txt", "a-journal.txt"), ("a.part", "a-part"),
    ]) func `No server names a file as what SQLite reads beside a database`(wish: String, name: String) {
      #expect(FileName(ofServer: wish).description == name)
      #expect(FileName(ofServer: name).description == name)
    }

    @Test func `A person may name a file as what stands beside a database`() throws {
      #expect(FileName(exactly: "a-wal")?.description == "a-wal")
      #expect(FileName(of: try #require(URL(string: "https://example.org/a-wal"))).description == "a-wal")
    }

    @Test(arguments: ["a.bin", String(repeating: "long ", count: 60) + ".bin"])
    func `A second name is known as one of its file's, whose ever it is`(name: String) {
      let name = FileName(harmless: name)
      let mark = name.mark(for: "http://example.org/", KnownJob(JobID(rawValue: 1), nonce: "n"))
      #expect(name.isMark(mark))
      #expect(!name.isMark("b" + mark))
      #expect(!name.isMark(name.part) && !name.isMark(name.new.part) && !name.isMark(mark + ".json"))
      #expect(!FileName(harmless: "other.bin").isMark(mark))
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

    @Test(arguments: [
      "debian.iso.part" + "y" + marks(120), "debian.iso.part.json" + "y" + marks(120),
    ]) func `A name that is cut is no part's and no record's either`(wish: String) {
      let name = FileName(harmless: wish).description
      #expect(name.hasPrefix("debian.iso-part"), "\(name)")
    }

    @Test func `A name that is cut keeps its first letter`() {
      let name = FileName(harmless: "a" + Self.marks(200) + ".bashrc").description
      #expect(name.utf8.first == UInt8(ascii: "a"))
      #expect(name.unicodeScalars.suffix(7).elementsEqual(".bashrc".unicodeScalars))
    }

    @Test func `Of ten thousand hostile names each is one that a file may have, and stays it`() throws {
      var random = Seeded(seed: 20_260_105)
      let pieces = [
        ".part", ".PART", ".part.json", ".Part.Json", ".new.part", ".pa\u{200d}rt", ".part.j\u{17f}on", ".part\u{fe0f}",
        "~new", "~", ".", "-", " ", "/", "\\", "\0", "\r\n", "\u{202e}", "\u{200d}", "\u{e0101}", "\u{301}", "\u{d4e}",
        "a", "y", "é", "e\u{301}", "日", "👩‍👩‍👧", "\u{3000}", ".gz", ".tar", ".bashrc", "%2F", "x.iso",
      ]
      for _ in 0..<10_000 {
        var wish = ""
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let times = Int.random(in: 0..<6, using: &random) == 0 ? Int.random(in: 2...250, using: &random) : 1
          wish += String(repeating: pieces.randomElement(using: &random)!, count: times)
        }
        let name = FileName(harmless: wish)
        let scalars = Array(wish.unicodeScalars)
        let bytes = Array(name.description.utf8)
        try #require(!bytes.isEmpty && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0), "\(scalars)")
        try #require(![".", "-", " "].contains(bytes.first.map { Unicode.Scalar($0) }), "\(scalars)")
        // As the most forgiving of file systems compares.
        let visible = name.description.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
          !$0.properties.isDefaultIgnorableCodePoint
        }
        var folded = Array(String(visible).uppercased().lowercased().utf8)
        try #require(folded.first != UInt8(ascii: ".") && folded.first != UInt8(ascii: "-"), "\(scalars)")
        while [UInt8(ascii: "."), UInt8(ascii: " ")].contains(folded.last) { folded.removeLast() }
        for ending in [".part", ".part.json"] {
          try #require(!folded.reversed().starts(with: ending.utf8.reversed()), "\(scalars)")
        }
        let again = FileName(harmless: name.description)
        try #require(Array(again.description.utf8) == bytes, "\(scalars)")
        try #require(FileName(exactly: name.description) == name, "\(scalars)")
        let apart = name.apart(for: "https://example.org/a")
        for beside in [
          name.record, name.new.record, apart.record, apart.new.record,
          name.mark(for: "https://example.org/a", KnownJob(JobID(rawValue: 7), nonce: "n")),
        ] {
          try #require(beside.utf8.count <= 255, "\(scalars)")
        }
      }
    }

    private static func marks(_ count: Int) -> String { String(repeating: "\u{301}", count: count) }

    /// The same numbers in each run. SplitMix64.
    private struct Seeded: RandomNumberGenerator {
      var seed: UInt64

      mutating func next() -> UInt64 {
        seed &+= 0x9E37_79B9_7F4A_7C15
        var mixed = seed
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
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

    @Test func `A letter with marks without end is cut, too`() {
      let name = FileName(harmless: "a" + Self.marks(1_000_000) + ".txt")
      #expect(name.record.utf8.count <= 255 && name.record.utf8.count > 250)
      #expect(name.description.utf8.first == UInt8(ascii: "a"))
    }

    @Test func `Two names that only look the same are two`() {
      #expect(FileName(harmless: "\u{e9}") != FileName(harmless: "e\u{301}"))
      #expect(Set([FileName(harmless: "\u{e9}"), FileName(harmless: "e\u{301}")]).count == 2)
    }

    @Test func `A name that somebody gives is taken as it is, or not at all`() {
      #expect(FileName(exactly: ".hidden")?.description == ".hidden")
      #expect(FileName(exactly: "a b.txt")?.part == "a b.txt.part")
      for name in [
        "", ".", "..", "a/b", "a\0b", "a\nb", String(repeating: "x", count: 246), "a.part", "a.PART.json", ".part",
      ] {
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
