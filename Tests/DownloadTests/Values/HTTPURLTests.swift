#if HTTP
  import DurableJobs
  import Foundation
  import NIOCore
  import Testing

  @testable import DurableJobsHTTP

  /// What is asked for by a URL, and where a redirect leads to.
  @Suite struct HTTPURLTests {
    @Test(arguments: [
      ("http://h", "/"), ("http://h/", "/"), ("http://h?q", "/?q"), ("http://h#f", "/"), ("http://h/a#f?", "/a"),
      ("http://h/a%20b", "/a%20b"), ("http://h/caf%E9.pdf", "/caf%E9.pdf"), ("http://h/a%2fb%2Fc", "/a%2fb%2Fc"),
      ("http://h/a%20b[1].bin", "/a%20b[1].bin"), ("http://h/?a[]=%5B]", "/?a[]=%5B]"),
      ("http://h/a b", "/a%20b"), ("http://h/a%20b c", "/a%20b%20c"), ("http://h/caf\u{e9}", "/caf%C3%A9"),
      ("http://h/\"<>\\^`{|}", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
      ("http://h/?\"<>\\^`{|}", "/?%22%3C%3E%5C%5E%60%7B%7C%7D"),
      ("http://h/a\tb\u{7f}", "/a%09b%7F"), ("http://h/100%", "/100%"), ("http://h/%zz", "/%zz"),
      ("http://h/-._~:@!$&'()*+,;=", "/-._~:@!$&'()*+,;="), ("http://h/?a/b?c=d&e+f", "/?a/b?c=d&e+f"),
      ("http://h//a//", "//a//"), ("http://h/a/../b/./c", "/a/../b/./c"),
    ]) func `The target is what was given, and only what can't be sent is escaped`(url: String, target: String) {
      #expect(HTTPURL(url)?.target == target)
    }

    @Test(arguments: [
      ("https://a.org/b?code=hush", "https://a.org/b?…"), ("app://cb#state=1&token=hush", "app://cb#…"),
      ("https://a.org/b#c?d=hush", "https://a.org/b#…"), ("https://kim:hu#sh@a.org/b", "https://…"),
      ("https://kim:hush@a.org/b#c", "https://a.org/b#…"),
    ]) func `Of a URL that is told in an error nothing follows that may be a secret`(url: String, told: String) {
      #expect(url.withoutSecrets == told)
    }

    @Test(arguments: [
      ("HTTP://Example.ORG:80/", "http://example.org:80", "example.org", "example.org:80"),
      ("https://example.org/", "https://example.org:443", "example.org", "example.org"),
      ("https://example.org:80/", "https://example.org:80", "example.org:80", "example.org:80"),
      ("http://example.org:/", "http://example.org:80", "example.org", "example.org"),
      ("http://[::1]:8080/", "http://[::1]:8080", "[::1]:8080", "[::1]:8080"),
      ("http://[FE80::1%25eth0]/", "http://[fe80::1%25eth0]:80", "[fe80::1]", "[fe80::1%25eth0]"),
      (
        "http://b\u{fc}cher.example/", "http://xn--bcher-kva.example:80", "xn--bcher-kva.example",
        "xn--bcher-kva.example"
      ),
      (
        "http://b%C3%BCcher.example/", "http://xn--bcher-kva.example:80", "xn--bcher-kva.example",
        "xn--bcher-kva.example"
      ),
      ("http://a@b:c@d.example/", "http://d.example:80", "d.example", "d.example"),
      ("http://a_b.example/", "http://a_b.example:80", "a_b.example", "a_b.example"),
    ]) func `A host has one spelling, and a port only where it is another than the scheme's`(
      text: String, origin: String, field: String, shown: String
    ) throws {
      let url = try #require(HTTPURL(text))
      #expect(url.origin == origin)
      #expect(url.hostField == field)
      #expect(url.hostAndPort == shown)
    }

    @Test(arguments: [
      "", "h", "/a", "//h/a", "ftp://h/", "http:", "http:/h", "http:h", "http://", "http:///a", "http://:80/",
      "http://?q",
      "http://[::1", "http://[::1]x/", "http://[127.0.0.1]/", "http://[x]/", "http://h:99999/", "http://h:0/",
      "http://h:-1/",
      "http://h:8x/", "http://a b/", "http://a%20b/", "http://a%2Fb/", "http://a\\b/", "http://%E9/", "http://u@/",
    ]) func `What names no host that can be asked is none`(text: String) {
      #expect(HTTPURL(text) == nil)
    }

    @Test func `A user and a password are the bytes that their escapes stand for`() throws {
      let url = try #require(HTTPURL("http://k%40m:p%3Aw%E9@h/"))
      #expect(url.credentials == .init(user: Array("k@m".utf8), password: Array("p:w".utf8) + [0xe9]))
      #expect(url.credentials?.basic == "Basic " + Data(Array("k@m:p:w".utf8) + [0xe9]).base64EncodedString())
      #expect(HTTPURL("http://kim@h/")?.credentials == .init(user: Array("kim".utf8), password: []))
      #expect(HTTPURL("http://h/a@b")?.credentials == nil)
    }

    @Test(arguments: [
      // RFC 3986, section 5.4, but for what needs another scheme.
      ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
      ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), ("", "/b/c/d;p?q"),
      (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../g", "/g"),
      ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"), ("..g", "/b/c/..g"),
      ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/../h", "/b/c/h"), ("g;x=1/../y", "/b/c/y"),
      ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"),
      // And what servers send besides.
      ("caf%E9%20x[1]", "/b/c/caf%E9%20x[1]"), ("caf\u{e9} x", "/b/c/caf%C3%A9%20x"), ("/a?b c", "/a?b%20c"),
      ("//A.example/x/../y", "http://a.example/y"), ("//u:p@a.example:8080", "http://a.example:8080/"),
      ("HTTPS://a.example/x/./y?z", "https://a.example/x/y?z"), ("/a//b", "/a//b"), ("/a:b", "/a:b"),
      ("./a:b", "/b/c/a:b"),
      ("?a:b", "/b/c/d;p?a:b"),
    ]) func `A redirect is relative to the URL that it answers`(location: String, expected: String) throws {
      let base = try #require(HTTPURL("http://u:p@a/b/c/d;p?q"))
      let next = base.following(location)
      #expect(next?.description == (expected.hasPrefix("/") ? "http://a" : "") + expected)
    }

    @Test(arguments: ["ftp://h/", "mailto:kim@example.org", "a:b", "http:g", "http:///a", "//", "///a"])
    func `A redirect to what is no such URL leads nowhere`(location: String) throws {
      #expect(try #require(HTTPURL("http://a/b")).following(location) == nil)
    }

    @Test func `A redirect carries no credentials on, neither of its URL nor of its own`() throws {
      let base = try #require(HTTPURL("http://u:p@a/b"))
      for location in ["c", "/c", "?c", "", "http://x:y@a/c", "//x:y@a/c"] {
        #expect(base.following(location)?.credentials == nil, "\(location)")
      }
    }

    // MARK: As Foundation has them

    @Test(arguments: [
      ("http://h/caf%E9.pdf", "http://h/caf%E9.pdf"), ("http://h/a%20b[1].bin", "http://h/a%20b%5B1%5D.bin"),
      ("http://h/a b%20c", "http://h/a%20b%20c"), ("http://h/?a[]=%5B#f", "http://h/?a%5B%5D=%5B"),
      ("http://h/100%", "http://h/100%25"), ("http://h/%zz%41", "http://h/%25zz%41"), ("http://h", "http://h"),
      ("http://k%40m:p[w@[::1]:80/a[b", "http://k%40m:p%5Bw@[::1]:80/a%5Bb"),
      ("http://b\u{fc}cher.example/%E9[", "http://xn--bcher-kva.example/%E9%5B"), ("http://u@h/a@b", "http://u@h/a@b"),
    ]) func `What is typed is escaped once`(text: String, expected: String) throws {
      let url = try #require(URL(typed: text))
      #expect(url.absoluteString == expected)
      #expect(
        try JSONDecoder().decode(Download.self, from: JSONEncoder().encode(Download(from: url, to: URL(filePath: "/"))))
          .url.absoluteString == expected)
    }

    @Test(arguments: [
      ("http://u:p@h/a@b?c@d", "http://h/a@b?c@d"), ("http://h/a@b#c", "http://h/a@b"), ("http://u:p%2F@h", "http://h"),
      ("http://u@h?x", "http://h?x"), ("http://h", "http://h"),
    ]) func `Its identity has neither user nor password`(text: String, expected: String) throws {
      #expect(try #require(URL(string: text)).withoutCredentials == expected)
    }

    // MARK: Bytes of a head

    private func escaped(_ chunks: [[UInt8]]) -> String {
      var head = LocationBytes.Head()
      return String(decoding: chunks.flatMap { head.escape($0) ?? $0 }, as: UTF8.self)
    }

    @Test func `Bytes of a Location that are not ASCII are escaped, and no others`() {
      let e9 = [UInt8(0xe9)]
      let head =
        Array("HTTP/1.1 302 X\r\nX-A: \u{e9}\r\nLOCATION: /".utf8) + e9
        + Array("\u{e9}\r\nX-B: \u{e9}\r\n\r\nlocation: \u{e9}".utf8)
      let expected = "HTTP/1.1 302 X\r\nX-A: \u{e9}\r\nLOCATION: /%E9%C3%A9\r\nX-B: \u{e9}\r\n\r\nlocation: \u{e9}"
      #expect(escaped([head]) == expected)
      #expect(escaped(head.map { [$0] }) == expected)
    }

    @Test func `What follows a head is not read, nor written anew where nothing was escaped`() {
      var head = LocationBytes.Head()
      let text = "HTTP/1.1 200 OK\r\nLocation: /a\r\n\r\n"
      let bytes = CountedBytes(Array(text.utf8) + [UInt8](repeating: 0xe9, count: 10_000))
      #expect(head.escape(bytes) == nil)
      #expect(bytes.read.value == text.utf8.count)
    }

    /// Bytes that tell up to where they were read.
    private struct CountedBytes: Collection {
      let bytes: [UInt8]
      let read = Lock(0)

      init(_ bytes: [UInt8]) { self.bytes = bytes }

      var startIndex: Int { 0 }
      var endIndex: Int { bytes.count }
      func index(after index: Int) -> Int { index + 1 }
      subscript(index: Int) -> UInt8 {
        read.withLock { $0 = Swift.max($0, index + 1) }
        return bytes[index]
      }
    }

    @Test func `An interim answer has a head of its own`() {
      let text = "HTTP/1.1 103 X\r\nLink: a\r\n\r\nHTTP/1.1 302 X\r\nLocation: \u{e9}\r\n\r\n"
      #expect(escaped([Array(text.utf8)]) == text.replacing("\u{e9}", with: "%C3%A9"))
    }
  }
#endif
