#if HTTP
  import DurableJobs
  import DurableJobsSystem
  import Foundation
  import NIOHTTP1
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct RequestRuleTests {
    @Test func `a screen that asks for an error's localized description gets its words`() {
      #expect((RequestError(.refused, "404 Not Found") as any Error).localizedDescription == "404 Not Found")
      #expect((DownloadError(.stalled, "nothing came") as any Error).localizedDescription == "nothing came")
    }

    @Test(
      arguments: [
        (200, nil, nil, "arrived"), (204, nil, nil, "arrived"), (299, nil, nil, "arrived"), (302, nil, "/b", "failed"),
        (303, nil, "/b", "failed"), (307, nil, "/b", "redirect"), (308, nil, "/b", "redirect"),
        (307, nil, nil, "failed"), (307, nil, "", "failed"), (308, nil, "", "failed"),
        (300, nil, "/b", "failed"), (304, nil, nil, "failed"), (400, nil, nil, "failed"), (404, "5", nil, "again"),
        (408, nil, nil, "again"), (425, nil, nil, "again"), (429, nil, nil, "again"), (500, nil, nil, "again"),
        (501, "5", nil, "failed"), (505, nil, nil, "failed"), (503, "5", nil, "again"), (999, nil, nil, "again"),
      ] as [(Int, String?, String?, String)])
    func `an answer means one thing for what was sent`(
      status: Int, retryAfter: String?, location: String?, meaning: String
    ) {
      var headers = HTTPHeaders()
      if let retryAfter { headers.add(name: "retry-after", value: retryAfter) }
      if let location { headers.add(name: "location", value: location) }
      let found =
        switch RequestVerdict(status: status, headers, to: .post) {
        case .success: "arrived"
        case .redirect: "redirect"
        case .failed: "failed"
        case .failedForNow(_, let told): told?.text == retryAfter ? "again" : "again, but not then"
        }
      #expect(found == meaning)
    }

    @Test(arguments: [
      (SendRequest(.init(rawValue: ""), URL(string: "http://h")!), "method"),
      (SendRequest("CONNECT", URL(string: "http://h")!), "method"),
      (SendRequest("PO ST", URL(string: "http://h")!), "method"),
      (SendRequest(.post, URL(string: "ftp://h")!), "no http or https URL"),
      (SendRequest(.post, URL(string: "h/a")!), "has no scheme"),
      (SendRequest(.post, URL(string: "http://h")!, headers: [HTTPHeader("A b", "c")]), "name of a header"),
      (SendRequest(.post, URL(string: "http://h")!, headers: [HTTPHeader("A", "b\r\nC: d")]), "control characters"),
      (SendRequest(.post, URL(string: "http://h")!, idempotencyKey: ""), "idempotency key"),
      (SendRequest(.post, URL(string: "http://h")!, idempotencyKey: "a b"), "idempotency key"),
      (
        SendRequest(.post, URL(string: "http://h")!, idempotencyKey: String(repeating: "k", count: 256)),
        "idempotency key"
      ),
      (
        SendRequest(.post, URL(string: "http://h")!, body: .data(Data(count: SendRequest.Body.mostBytes + 1))),
        "into a file"
      ),
    ])
    func `what can't be sent is refused with words`(request: SendRequest, words: String) throws {
      let error = #expect(throws: RequestError.self) { try request.validate() }
      #expect(error?.code == .invalidRequest)
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `a request is read as it was stored`() throws {
      let url = try #require(URL(string: "https://example.org/a?b=c"))
      let bodies: [SendRequest.Body] = [
        .none, .data(Data("text".utf8)), .data(Data([0xff, 0])), .data(Data(), type: nil),
        .file(inPlace: URL(filePath: "/f")),
        try .json(["a": 1]),
      ]
      for body in bodies {
        let request = SendRequest(
          .patch, url, headers: [HTTPHeader("A", "b")], headerFiles: [URL(filePath: "/h")], body: body,
          caCertificates: URL(filePath: "/c"))
        #expect(try JSONDecoder().decode(SendRequest.self, from: JSONEncoder().encode(request)) == request)
      }
      let text = String(decoding: try JSONEncoder().encode(bodies[1]), as: UTF8.self)
      #expect(text.contains(#""data":"text""#))
    }

    @Test func `a long key and URL make a name that a store can hold`() throws {
      let url = try #require(URL(string: "https://example.org/" + String(repeating: "a", count: 600)))
      let names = ["k", "l"].map { SendRequest(.post, url, idempotencyKey: $0).options.unique }
      #expect(names[0] != names[1])
      #expect(try #require(names[0]).key.utf8.count <= Limits.nameBytes)
    }

    @Test func `the longest of secrets is hidden first, and what a cut leaves of one is not kept`() {
      let redaction = Redaction([Data("abc".utf8), Data("abcdef".utf8), Data()])
      #expect(redaction("abcdefabcab") == "******ab")
      #expect(redaction.margin == 6)
      // More was read than is kept, and ends within a secret, to which what was hidden before has made room.
      let kept = Redaction([Data("abcdef".utf8)]).kept(Data("abcdef012345abcde".utf8), 11, isCut: true)
      #expect(String(decoding: kept, as: UTF8.self) == "***012345")
      #expect(redaction.kept(Data("abcdef".utf8), 9, isCut: false) == Data("***".utf8))
    }

    @Test(
      arguments: [
        ("Authorization: Bearer t0ken==", ["Bearer t0ken==", "t0ken"]), ("X-Key: s3cret", ["s3cret"]),
        ("Cookie: a=first; b=second", ["a=first; b=second", "first", "second"]), ("X-Version: 2", []),
        ("Accept: application/json", []), ("Content-Type: text/plain", []), ("User-Agent: browser", []),
      ])
    func `what may be secret in a file of headers is known by their names`(line: String, secrets: [String]) throws {
      #expect(try #require(HTTPHeader(line: line)).secrets == secrets.map { Data($0.utf8) })
    }

    @Test(
      arguments: [
        ("a\r\n\tb  c", "a b c"), ("\u{1b}]0;x\u{7}", #"\u{1b}]0;x\u{7}"#), ("\u{202e}abc", #"\u{202e}abc"#),
        (String(repeating: "é", count: 400), String(repeating: "é", count: 300) + " …"), ("", ""),
      ])
    func `what a server says is told in one line that does nothing to a terminal`(text: String, excerpt: String) {
      #expect(Data(text.utf8).asExcerpt() == excerpt)
    }

    @Test func `a cut character is left out, and what is no text is not told`() {
      #expect(Data("é".utf8).dropLast().asExcerpt() == "")
      #expect(Data("aé".utf8).dropLast().asExcerpt() == "a")
      #expect(Data([0xff, 0xfe, 0x80, 0x81, 0x82]).asExcerpt() == "")
    }

    @Test(arguments: [(-5, 1), (0, 1), (8, 1), (80, 10), (480, 60), (1_000_000, 60)] as [(Int, Int)])
    func `who has waited longer is tried less often, but each minute`(age: Int, wait: Int) {
      #expect(Outbox.offlineWait(age: .seconds(age), random: 1) == .seconds(wait))
      #expect(Outbox.offlineWait(age: .seconds(age), random: 0) == .seconds(wait) / 2)
    }
  }
#endif
