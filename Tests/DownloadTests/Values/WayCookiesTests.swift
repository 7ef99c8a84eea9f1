#if HTTP
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct WayCookiesTests {
    @Test(
      arguments: [
        ("a=1", "http://h.example/x/y", "http://h.example/x/z", "a=1"),
        ("a=1", "http://h.example/x/y", "http://h.example/", nil),
        ("a=1; Path=/", "http://h.example/x/y", "http://h.example/", "a=1"),
        ("a=1; path=/x", "http://h.example/", "http://h.example/xy", nil),
        ("a=1", "http://h.example/", "http://i.example/", nil),
        ("a=1", "http://h.example/", "http://www.h.example/", nil),
        ("a=1; Domain=.h.example", "http://www.h.example/", "http://cdn.h.example:81/f?q", "a=1"),
        ("a=1; Domain=example", "http://h.example/", "http://h.example/", nil),
        ("a=1; Domain=evil.example", "http://h.example/", "http://evil.example/", nil),
        ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", nil),
        ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://9.0.0.1/", nil),
        ("a=1; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", "a=1"),
        ("a=1; Domain=[::1]", "http://[::1]/", "http://[::1]/", "a=1"),
        ("a=1; Secure", "https://h.example/", "http://h.example/", nil),
        ("a=b=c; secure", "https://h.example/", "https://h.example/", "a=b=c"),
        ("a=1; Max-Age=0", "http://h.example/", "http://h.example/", nil),
        ("=1", "http://h.example/", "http://h.example/", nil),
        ("a", "http://h.example/", "http://h.example/", nil),
        ("a=1\u{7}", "http://h.example/", "http://h.example/", nil),
      ] as [(String, String, String, String?)])
    func `a cookie goes to whom it is for`(line: String, from: String, to: String, header: String?) throws {
      var cookies = WayCookies()
      cookies.take([line], from: try #require(HTTPURL(from)))
      #expect(cookies.header(for: try #require(HTTPURL(to))) == header)
    }

    @Test func `a cookie that is set again has its new value, and one that is over goes`() throws {
      let url = try #require(HTTPURL("http://h.example/"))
      var cookies = WayCookies()
      cookies.take(["a=1", "b=2", "a=3"], from: url)
      #expect(cookies.header(for: url) == "b=2; a=3")
      cookies.take(["a=; Max-Age=0"], from: url)
      #expect(cookies.header(for: url) == "b=2")
    }
  }
#endif
