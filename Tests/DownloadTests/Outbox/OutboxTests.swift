#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import TestProcesses
  import Testing

  @Suite struct OutboxTests {
    let server: LyingServer
    let setting = OutboxSetting()

    init() async throws { server = try await LyingServer() }

    private struct Order: Codable {
      var item: String
    }

    private func post(_ path: String = "/orders", key: String? = "k-1") throws -> SendRequest {
      SendRequest(.post, try server.at(path), body: try .json(Order(item: "tea")), idempotencyKey: key)
    }

    // MARK: What is sent

    @Test func `a request arrives with its method, target, headers, body and key, and what is answered is kept`()
      async throws
    {
      server.serve(
        "/orders",
        .page(201, "made").with("Location", "/orders/7").with("Set-Cookie", "session=1").with("ETag", "\"e\""))
      var request = try post("/orders?a=b%20c")
      request.headers = [HTTPHeader("X-One", "1"), HTTPHeader("X-Two", "2")]
      let job = try await setting.send(request)
      #expect(job.state == .succeeded, "\(job)")
      let sent = try #require(server.requests.first)
      #expect(sent.line == "POST /orders?a=b%20c HTTP/1.1")
      #expect(
        ["X-One", "X-Two", "Content-Type", "Idempotency-Key"].map { sent[$0] } == ["1", "2", "application/json", "k-1"])
      #expect(sent.body == Array(#"{"item":"tea"}"#.utf8))
      let answer = try #require(job.answer)
      #expect(answer.status == 201)
      #expect(answer.body == Data("made".utf8))
      #expect(!answer.isCut)
      #expect(answer["location"] == "/orders/7")
      #expect(answer.headers.map(\.name) == ["Content-Type", "ETag", "Location"])
    }

    @Test(arguments: ["GET", "HEAD", "DELETE", "PURGE", "PUT"])
    func `a request without a body has none, whatever its method`(method: String) async throws {
      server.serve("/a", .page(204, ""))
      let job = try await setting.send(SendRequest(.init(rawValue: method), try server.at("/a")))
      #expect(job.state == .succeeded, "\(job)")
      #expect(server.requests.map(\.method) == [method])
      #expect(server.requests.first?["Content-Type"] == nil)
      #expect(server.requests.first?.body == [])
    }

    @Test func `of HEAD the answer has the length of a body, and none`() async throws {
      server.serve("/a", .page(200, "").framed(.lengthOff(by: 5)))
      let job = try await setting.send(SendRequest(.head, try server.at("/a")))
      let answer = try #require(job.answer, "\(job)")
      #expect(answer.body.isEmpty)
      #expect(!answer.isCut)
      #expect(server.requests.count == 1)
    }

    @Test func `a header that is given goes before the outbox's own`() async throws {
      server.serve("/orders", .page(200))
      var request = try post()
      request.headers = [
        HTTPHeader("content-type", "text/x"), HTTPHeader("idempotency-key", "mine"), HTTPHeader("User-Agent", "me"),
        HTTPHeader("Host", "elsewhere.example"),
      ]
      #expect(try await setting.send(request).state == .succeeded)
      let sent = try #require(server.requests.first)
      #expect(
        ["Content-Type", "Idempotency-Key", "User-Agent", "Host"].map { sent[$0] }
          == ["text/x", "mine", "me", "elsewhere.example"])
      #expect(sent.body.count == 14)
    }

    @Test(arguments: [
      "Content-Length", "transfer-encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Upgrade",
    ])
    func `a header that says where the body ends, or what becomes of the connection, is refused`(name: String) throws {
      var request = try post()
      request.headers = [HTTPHeader(name, "3")]
      let error = try #require(throws: RequestError.self) { try request.validate() }
      #expect(error.code == .invalidRequest)
      #expect(error.message.contains("the header \(name) is set by what sends the request"), "\(error.message)")
    }

    @Test func `each request has a key of its own, unless it wants none`() async throws {
      server.serve("/a", .page(200))
      for request in [SendRequest(.post, try server.at("/a")), SendRequest(.post, try server.at("/a"))] {
        _ = try await setting.send(request)
      }
      _ = try await setting.send(SendRequest(.post, try server.at("/a"), idempotencyKey: nil))
      let keys = server.keys("/a")
      #expect(keys.map { $0 == nil } == [false, false, true])
      #expect(Set(keys).count == 3)
    }

    @Test func `while it is unfinished, a request with the same method, URL and key is the same one`() async throws {
      let first = try await setting.jobs.queue.enqueue(try post())
      let second = try await setting.jobs.queue.enqueue(try post())
      let others = [
        try post(key: "k-2"), try post("/emails"), SendRequest(.put, try server.at("/orders"), idempotencyKey: "k-1"),
      ]
      #expect(!second.isNew)
      #expect(second.id == first.id)
      for other in others { #expect(try await setting.jobs.queue.enqueue(other).isNew) }
    }

    @Test func `requests of a lane arrive in their order, and none goes before one that waits for another attempt`()
      async throws
    {
      server.serve("/orders", .page(503), .page(200))
      var ids: [JobID] = []
      for item in ["one", "two", "three"] {
        let request = SendRequest(.post, try server.at("/orders"), body: try .json(Order(item: item)))
        ids.append(try await setting.jobs.queue.enqueue(request, options: JobOptions(lane: "orders")).id)
      }
      let bodies = ["one", "two", "three"].map { #"{"item":"\#($0)"}"# }
      try await setting.jobs.drain()
      #expect(server.bodies("/orders") == [bodies[0]])
      let first = try await setting.passTime(for: try await setting.job(ids[0]))
      #expect(first.attempt == 2)
      #expect(server.bodies("/orders") == [bodies[0]] + bodies)
      #expect(Set(server.keys("/orders")).count == 3)
    }

    // MARK: What is answered

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func `an answer that may be another one later is followed by another attempt with the same key`(status: Int)
      async throws
    {
      server.serve("/orders", .page(status), .page(status), .page(200))
      let job = try await setting.send(try post(key: UUID().uuidString))
      #expect(job.state == .succeeded, "\(job)")
      #expect(job.attempt == 3)
      #expect(server.requests.count == 3)
      #expect(Set(server.keys("/orders")).count == 1)
      #expect(Set(server.bodies("/orders")) == [#"{"item":"tea"}"#])
    }

    @Test(arguments: [400, 401, 403, 404, 409, 410, 413, 422, 501, 505, 304])
    func `another error fails for good, with what the server says of it`(status: Int) async throws {
      server.serve("/orders", .page(status, "no \u{1b}[31mtea\r\n  here"))
      let job = try await setting.send(try post())
      #expect(job.state == .failed)
      #expect(server.requests.count == 1)
      #expect(job.failures.last?.code == "refused-\(status)")
      #expect(job.lastError.hasPrefix("the server answered \(status) "), "\(job.lastError)")
      if status != 304 { #expect(job.lastError.hasSuffix(#": no \u{1b}[31mtea here"#), "\(job.lastError)") }
    }

    @Test(arguments: [429, 503, 403, 409])
    func `Retry-After is waited for`(status: Int) async throws {
      server.serve("/orders", .page(status).with("Retry-After", "120"), .page(200))
      var job = try await setting.attempt(try post())
      #expect(job.state == .scheduled, "\(job)")
      #expect(try setting.wait(of: job) == .seconds(120))
      job = try await setting.passTime(for: job)
      #expect(job.state == .succeeded, "\(job)")
      #expect(server.requests.count == 2)
    }

    @Test func `while a host wants to be left alone, other requests to it wait and use no attempt`() async throws {
      server.serve("/orders", .page(429).with("Retry-After", "30"), .page(200))
      server.serve("/other", .page(200))
      let first = try await setting.attempt(try post())
      var other = try await setting.attempt(try post("/other"))
      #expect(other.state == .scheduled)
      #expect(other.attempt == 0)
      #expect(server.requests("/other").isEmpty)
      try await setting.jobs.advance(by: .seconds(40))
      other = try await setting.job(other.id)
      #expect(other.state == .succeeded)
      #expect(try await setting.job(first.id).state == .succeeded)
    }

    @Test func `the host that wants to be left alone is, and not who redirects to it`() async throws {
      let other = try await LyingServer()
      for path in ["/orders", "/others"] { server.serve(path, .redirect(307, to: other.url(path))) }
      server.serve("/free", .page(200))
      other.serve("/orders", .page(503).with("Retry-After", "30"), .page(200))
      other.serve("/others", .page(200))
      let first = try await setting.attempt(try post())
      #expect(try await setting.attempt(try post("/free")).state == .succeeded)
      let waiting = try await setting.attempt(try post("/others"))
      #expect(waiting.state == .scheduled)
      #expect(waiting.attempt == 0)
      #expect(other.requests.map(\.path) == ["/orders"])
      try await setting.jobs.advance(by: .seconds(40))
      for job in [first, waiting] { #expect(try await setting.job(job.id).state == .succeeded) }
    }

    @Test func `of a long body the beginning is kept, and it says so`() async throws {
      server.serve("/a", .page(200, String(repeating: "é", count: 100_000)))
      let answer = try #require(try await setting.send(SendRequest(.get, try server.at("/a"))).answer)
      #expect(answer.body == Data(String(repeating: "é", count: 100_000).utf8.prefix(HTTPAnswer.mostBytes)))
      #expect(answer.isCut)
    }

    @Test func `a body that is no text is kept byte by byte`() async throws {
      let bytes = Array(UInt8.min...UInt8.max)
      server.serve("/a", .file(Content(bytes: bytes)))
      let request = SendRequest(.put, try server.at("/a"), body: .data(Data(bytes)))
      let answer = try #require(try await setting.send(request).answer)
      #expect(answer.body == Data(bytes))
      #expect(server.requests.first?.body == bytes)
    }

    @Test func `where the answer is all that is wanted, one that breaks off is asked for again`() async throws {
      server.serve("/a", .page(200, "whole").cut(after: 2), .page(200, "whole"))
      let answer = try #require(try await setting.send(SendRequest(.get, try server.at("/a"))).answer)
      #expect(answer.body == Data("whole".utf8))
      #expect(server.requests.count == 2)
    }

    @Test func `where something was done, an answer that breaks off is one, and says that it is cut`() async throws {
      server.serve("/orders", .page(200, "whole").cut(after: 2))
      let answer = try #require(try await setting.send(try post()).answer)
      #expect(answer.body == Data("wh".utf8))
      #expect(answer.isCut)
      #expect(server.requests.count == 1)
    }

    // MARK: Redirects

    @Test(arguments: [307, 308])
    func `a redirect that keeps the method is followed with the body, and headers stay with the first host`(status: Int)
      async throws
    {
      let other = try await LyingServer(on: "127.0.0.2")
      other.serve("/new", .page(200, "there"))
      server.serve("/orders", .redirect(status, to: "/moved"))
      server.serve("/moved", .redirect(status, to: other.url("/new")))
      var request = try post()
      let ofBody = [
        HTTPHeader("Content-Type", "text/x"), HTTPHeader("content-encoding", "gzip"),
        HTTPHeader("Repr-Digest", "md5=:a:"),
      ]
      request.headers = [HTTPHeader("Authorization", "Bearer a"), HTTPHeader("Content-Key", "k")] + ofBody
      let job = try await setting.send(request)
      #expect(job.answer?.body == Data("there".utf8), "\(job)")
      #expect(server.requests("/moved").map { $0["Authorization"] } == ["Bearer a"])
      let last = try #require(other.requests.first)
      #expect(last.method == "POST")
      #expect(last.body == Array(#"{"item":"tea"}"#.utf8))
      #expect(["Authorization", "Content-Key", "Idempotency-Key"].map { last[$0] } == [nil, nil, "k-1"])
      #expect(ofBody.map { last[$0.name] } == ofBody.map(\.value), "what is said of the body goes with it")
    }

    @Test(arguments: [301, 302, 303])
    func `a redirect that may mean anything is followed where nothing is changed, and else says so`(status: Int)
      async throws
    {
      server.serve("/orders", .redirect(status, to: "/login?token=s3cret"))
      server.serve("/login?token=s3cret", .page(200))
      server.serve("/login", .page(200))
      #expect(try await setting.send(SendRequest(.get, try server.at("/orders"))).state == .succeeded)
      let job = try await setting.send(try post())
      #expect(job.state == .failed)
      #expect(job.lastError.contains("\(status)"))
      #expect(job.lastError.contains("leads to /login?…."), "\(job.lastError)")
      #expect(server.requests("/login?token=s3cret").map(\.method) == ["GET"])
    }

    @Test func `a body is not sent on from https to http`() async throws {
      let secure = try await LyingServer(certificate: SecureTests.certificate)
      server.serve("/orders", .page(200))
      secure.serve("/orders", .redirect(307, to: server.url("/orders")))
      let url = try secure.at("/orders", by: "localhost")
      let request = SendRequest(.post, url, body: .data(Data([1])), caCertificates: SecureTests.authority)
      let job = try await setting.send(request)
      #expect(job.state == .failed)
      #expect(job.lastError.contains("from https to http://127.0.0.1"), "\(job.lastError)")
      #expect(server.requests.isEmpty)
    }

    @Test func `a server that redirects for ever is given up`() async throws {
      server.serve("/orders", .redirect(307, to: "/orders"))
      let job = try await setting.send(try post())
      #expect(job.state == .failed)
      #expect(job.lastError.contains("more than 10 times"))
      #expect(server.requests.count == 11)
    }

    // MARK: No answer

    #if os(Linux)
      /// It can be opened, and reading it is an error of the system: nothing is at its beginning.
      private static let unreadable = URL(filePath: "/proc/self/mem")

      @Test(arguments: ["headers", "netrc", "certificates"])
      func `a file that can't be read for now is waited for, and no attempt is used`(kind: String) async throws {
        let setting = OutboxSetting(netrc: kind == "netrc" ? Self.unreadable : nil)
        var request = SendRequest(.get, try server.at("/a"))
        if kind == "headers" { request.headerFiles = [Self.unreadable.path] }
        if kind == "certificates" {
          request.url = try #require(URL(string: "https://127.0.0.1:\(server.port)/a"))
          request.caCertificates = Self.unreadable.path
        }
        let job = try await setting.attempt(request)
        #expect(job.state == .scheduled, "\(job)")
        #expect(job.attempt == 0)
        #expect(setting.waits == ["can't read /proc/self/mem for now: Input/output error"])
        #expect(server.requests.isEmpty)
      }
    #endif

    @Test func `where nobody can be reached it waits without using an attempt, and arrives when somebody is there`()
      async throws
    {
      server.serve("/orders", .page(200))
      try await server.stopListening()
      var job = try await setting.attempt(try post())
      #expect(job.state == .scheduled)
      #expect(job.attempt == 0)
      #expect(try setting.wait(of: job) <= .seconds(1))
      #expect(job.progress?.message == "waits: \(try #require(setting.waits.first))")
      #expect(setting.waits.first?.hasPrefix("can't connect to 127.0.0.1:\(server.port): ") == true, "\(setting.waits)")
      try await setting.jobs.advance(by: .seconds(2 * 24 * 3600))
      job = try await setting.job(job.id)
      #expect(job.attempt == 0)
      #expect(job.failures.isEmpty)
      #expect(try setting.wait(of: job) <= .seconds(60))
      try await server.listenAgain()
      try await setting.jobs.advance(by: .seconds(60))
      #expect(try await setting.job(job.id).state == .succeeded)
      #expect(server.keys("/orders") == ["k-1"])
    }

    @Test func `after a week without a network attempts are used up, and the last one fails it`() async throws {
      try await server.stopListening()
      let id = try await setting.jobs.queue.enqueue(try post(), options: JobOptions(maxAttempts: 2)).id
      // As if nobody had worked for a week.
      setting.jobs.clock.advance(by: Outbox.patience)
      try await setting.jobs.drain()
      #expect(try await setting.job(id).attempt == 1)
      try await setting.jobs.advance(by: .seconds(60))
      let job = try await setting.job(id)
      #expect(job.state == .failed)
      #expect(job.lastError.hasPrefix("can't connect to"), "\(job.lastError)")
    }

    @Test func `a request whose connection broke after it was sent is sent again, with the same key`() async throws {
      server.serve("/orders", .hangUp, .page(200))
      let job = try await setting.send(try post())
      #expect(job.state == .succeeded, "\(job)")
      #expect(job.attempt == 2)
      #expect(server.keys("/orders") == ["k-1", "k-1"])
    }

    /// Whether a connection ends, or is reset.
    private static let losses: [LyingAnswer] = [.hangUp, .reset]

    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "CHARGE"], losses)
    func `over a new connection a request goes once an attempt, whatever it is`(method: String, loss: LyingAnswer)
      async throws
    {
      for key in ["k-1", nil] {
        server.serve("/a", loss, .page(200))
        let before = server.requests.count
        let setting = OutboxSetting()
        let job = try await setting.attempt(
          SendRequest(.init(rawValue: method), try server.at("/a"), idempotencyKey: key))
        #expect(server.requests.count == before + 1)
        #expect(job.attempt == 1)
        #expect(job.state == .scheduled, "\(job)")
        #expect(try await setting.passTime(for: job).state == .succeeded)
      }
    }

    @Test(
      arguments: [
        ("GET", nil, true), ("PUT", nil, true), ("DELETE", nil, true), ("OPTIONS", nil, true), ("POST", "k-1", true),
        ("POST", nil, false), ("PATCH", nil, false), ("CHARGE", nil, false),
      ] as [(String, String?, Bool)], losses)
    func `a connection that was lost while it was kept is made anew at once for what may arrive twice`(
      sent: (method: String, key: String?, again: Bool), loss: LyingAnswer
    ) async throws {
      server.serve("/first", .page(200))
      server.serve("/a", loss, .page(200))
      #expect(try await setting.attempt(SendRequest(.get, try server.at("/first"))).state == .succeeded)
      let job = try await setting.attempt(
        SendRequest(.init(rawValue: sent.method), try server.at("/a"), idempotencyKey: sent.key))
      #expect(server.requests("/a").count == (sent.again ? 2 : 1))
      #expect(job.state == (sent.again ? .succeeded : .scheduled), "\(job)")
      #expect(job.attempt == 1)
    }

    @Test func `a server that is at work on the same key still is asked again`() async throws {
      server.serve("/orders", .hangUp, .page(409, "at work"), .page(409, "at work"), .page(200, "done"))
      let job = try await setting.send(try post())
      #expect(job.answer?.body == Data("done".utf8), "\(job)")
      #expect(setting.errors.map(\.code) == [.connection, .refused, .refused])
      #expect(Set(server.keys("/orders")) == ["k-1"])
    }

    @Test func `without a key a conflict is one, also after an answer that was lost`() async throws {
      server.serve("/orders", .hangUp, .page(409), .page(200))
      let job = try await setting.send(try post(key: nil))
      #expect(job.state == .failed)
      #expect(server.requests.count == 2)
    }

    @Test func `an attempt that was stopped may have arrived, too`() async throws {
      server.serve("/orders", .silence, .page(409), .page(200))
      let id = try await setting.jobs.queue.enqueue(try post()).id
      async let drained = setting.jobs.drain()
      await server.held("/orders")
      await setting.jobs.worker.stop(grace: .zero)
      _ = try await drained
      try await setting.jobs.drain()
      try await setting.jobs.advance(by: .seconds(60))
      let job = try await setting.job(id)
      #expect(job.state == .succeeded, "\(job)")
      #expect(server.requests.count == 3)
    }

    @Test func `what met the end of a kept connection may have arrived, though the next one was refused`() async throws
    {
      server.serve("/a", .page(200), .silence, .page(404))
      _ = try await setting.send(SendRequest(.delete, try server.at("/a")))
      let id = try await setting.jobs.queue.enqueue(SendRequest(.delete, try server.at("/a"))).id
      async let drained = setting.jobs.drain()
      await server.held("/a")
      try await server.stopListening()
      server.closeConnections()
      _ = try await drained
      #expect(try await setting.job(id).attempt == 0, "it waits for a network")
      try await server.listenAgain()
      try await setting.jobs.advance(by: .seconds(60))
      let job = try await setting.job(id)
      #expect(job.state == .failed)
      #expect(job.lastError.contains("an earlier sending"), "\(job.lastError)")
      #expect(server.requests.count == 3)
    }

    @Test func `an answer whose end nobody told may be cut`() async throws {
      server.serve("/orders", LyingAnswer.page(200, "[1,2").framed(.close))
      let job = try await setting.send(SendRequest(.get, try server.at("/orders")))
      #expect(job.answer?.body == Data("[1,2".utf8))
      #expect(job.answer?.isCut == true)
    }

    @Test func `a key that was given as a header goes to where the request is redirected, too`() async throws {
      let other = try await LyingServer()
      server.serve("/orders", .redirect(308, to: other.url("/orders")))
      other.serve("/orders", .page(200))
      var request = try post(key: nil)
      request.headers = [HTTPHeader("idempotency-key", "mine"), HTTPHeader("X-Own", "stays")]
      #expect(try await setting.send(request).state == .succeeded)
      #expect(other.keys("/orders") == ["mine"])
      #expect(other.requests[0]["X-Own"] == nil)
    }

    @Test func `a type of a body that would inject a header is refused`() async throws {
      var request = try post()
      request.body.type = "text/plain\r\nX-Other: 1"
      await #expect(throws: RequestError.self) { try await setting.jobs.queue.enqueue(request) }
    }

    @Test func `what a proxy lets no connection to has not been sent, and waits as without a network`() async throws {
      let setting = OutboxSetting(environment: ["https_proxy": server.url("")])
      server.serve("a.example:443", .page(502), .page(502))
      let job = try await setting.attempt(SendRequest(.delete, try #require(URL(string: "https://a.example/1"))))
      #expect(job.state == .scheduled)
      #expect(job.attempt == 0)
      #expect(setting.waits == ["the proxy 127.0.0.1:\(server.port) let no connection through"])
    }

    @Test(arguments: [404, 410], [true, false])
    func `what is not there to be deleted may have been deleted by an answer that was lost`(status: Int, isLost: Bool)
      async throws
    {
      server.serve("/a", (isLost ? [.hangUp] : []) + [.page(status)])
      let job = try await setting.send(SendRequest(.delete, try server.at("/a"), idempotencyKey: nil))
      #expect(job.state == .failed)
      #expect(job.lastError.contains("an earlier sending") == isLost, "\(job.lastError)")
    }

    @Test(arguments: [409, 412], [true, false])
    func `a condition that does not hold any more may be the work of a sending whose answer was lost`(
      status: Int, isLost: Bool
    ) async throws {
      server.serve("/a", (isLost ? [.hangUp] : []) + [.page(status)])
      let job = try await setting.send(SendRequest(.put, try server.at("/a"), idempotencyKey: nil))
      #expect(job.state == .failed)
      #expect(job.lastError.contains("an earlier sending") == isLost, "\(job.lastError)")
    }

    @Test func `a request that is interrupted goes back uncounted, and is sent again with the same key`() async throws {
      server.serve("/orders", .silence, .page(200))
      let id = try await setting.jobs.queue.enqueue(try post()).id
      async let drained = setting.jobs.drain()
      await server.held("/orders")
      await setting.jobs.worker.stop(grace: .zero)
      _ = try await drained
      try await setting.jobs.drain()
      let job = try await setting.job(id)
      #expect(job.state == .succeeded, "\(job)")
      #expect(job.attempt == 1)
      #expect(job.failures.isEmpty)
      #expect(server.keys("/orders") == ["k-1", "k-1"])
      #expect(setting.events.contains { if case .stopped = $0 { true } else { false } })
    }

    /// Lets the time pass in which nothing may stand still, until the attempt is over.
    private func drainUntilStalled() async throws {
      let isOver = Lock(false)
      async let drained: Void = {
        defer { isOver.withLock { $0 = true } }
        try await setting.jobs.drain()
      }()
      await server.held("/orders")
      await until {
        // From timer to timer: what comes on the way sets the next one.
        if let next = setting.jobs.clock.timers.first, next <= .seconds(60) { setting.jobs.clock.advance(by: next) }
        return isOver.withLock { $0 }
      }
      try await drained
    }

    @Test func `where something was done, an answer that stands still is one, and says that it is cut`() async throws {
      server.serve("/orders", .page(201, "whole").with("Location", "/orders/7").holding(after: 2))
      let id = try await setting.jobs.queue.enqueue(try post()).id
      try await drainUntilStalled()
      let job = try await setting.job(id)
      let answer = try #require(job.answer, "\(job)")
      #expect(answer.status == 201)
      #expect(answer["Location"] == "/orders/7")
      #expect(answer.isCut)
      #expect("wh".hasPrefix(String(decoding: answer.body, as: UTF8.self)))
      #expect(server.requests.count == 1)
    }

    @Test(arguments: ["time-out", "cancel"])
    func `where something was done, an end that is asked for comes too late`(how: String) async throws {
      server.serve("/orders", .page(201, "whole").holding(after: 2))
      let request = try post()
      let options = JobOptions(maxAttempts: 3, timeout: how == "time-out" ? .seconds(5) : nil)
      let id = try await setting.jobs.queue.enqueue(request, options: options).id
      async let drained = setting.jobs.drain()
      await server.held("/orders")
      // Set once the head of the answer is here.
      await until { setting.jobs.clock.timers.contains(.seconds(60)) }
      if how == "cancel" {
        try await setting.jobs.queue.cancel(id)
      } else {
        setting.jobs.clock.advance(by: .seconds(5))
      }
      _ = try await drained
      let job = try await setting.job(id)
      #expect(job.state == .succeeded, "\(job)")
      #expect(server.requests.count == 1)
    }

    @Test func `a refusal is one, also if what the server says of it stands still`() async throws {
      server.serve("/orders", .page(400, "no tea here").holding(after: 6))
      let id = try await setting.jobs.queue.enqueue(try post()).id
      try await drainUntilStalled()
      let job = try await setting.job(id)
      #expect(job.state == .failed, "\(job)")
      #expect(job.lastError.hasPrefix("the server answered 400 "), "\(job.lastError)")
      #expect(server.requests.count == 1)
    }

    @Test func `where the answer is all that is wanted, one that stands still is asked for again`() async throws {
      server.serve("/orders", .page(200, "whole").holding(after: 2), .page(200, "whole"))
      let id = try await setting.jobs.queue.enqueue(SendRequest(.get, try server.at("/orders"))).id
      try await drainUntilStalled()
      #expect(setting.errors.map(\.code) == [.stalled])
      try await setting.jobs.advance(by: .seconds(60))
      #expect(try await setting.job(id).answer?.body == Data("whole".utf8))
      #expect(server.requests.count == 2)
    }

    @Test func `a server has ten minutes for its work, and is asked again then`() async throws {
      server.serve("/orders", .silence, .page(200))
      let id = try await setting.jobs.queue.enqueue(try post()).id
      async let drained = setting.jobs.drain()
      await server.held("/orders")
      let began = setting.jobs.clock.uptime
      // Time passes until the attempt has ended, however often its timer has to be set anew.
      await until {
        if !setting.jobs.clock.timers.isEmpty { setting.jobs.clock.advance(by: .seconds(60)) }
        return !setting.errors.isEmpty
      }
      _ = try await drained
      #expect(setting.errors.map(\.code) == [.stalled])
      #expect(setting.jobs.clock.uptime - began >= .seconds(600))
      try await setting.jobs.advance(by: .seconds(60))
      #expect(try await setting.job(id).state == .succeeded)
      #expect(server.keys("/orders") == ["k-1", "k-1"])
    }
  }
#endif
