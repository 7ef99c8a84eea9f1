#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsSQLite
  import Foundation
  import LyingServer
  import Testing

  @Suite struct OutboxSecretTests {
    let server: LyingServer

    init() async throws { server = try await LyingServer() }

    private func request(_ value: String = "Bearer {secret:TOKEN}", path: String = "/a") throws -> SendRequest {
      SendRequest(.post, try server.at(path), headers: [HTTPHeader("Authorization", value)])
    }

    @Test func `a secret is put in where it is named, each time`() async throws {
      server.serve("/a", .page(500), .page(200))
      let setting = OutboxSetting(secrets: ["TOKEN": "s3cret\n", "B": "{secret:TOKEN}"])
      let job = try await setting.attempt(try request("{secret:TOKEN} and {secret:B}"))
      setting.secrets.withLock { $0["TOKEN"] = "n3w" }
      #expect(try await setting.passTime(for: job).state == .succeeded)
      #expect(
        server.requests.map { $0["Authorization"] } == ["s3cret and {secret:TOKEN}", "n3w and {secret:TOKEN}"])
    }

    @Test func `a secret that nobody knows suspends the request, and it goes on once somebody does`() async throws {
      server.serve("/a", .page(200))
      let setting = OutboxSetting()
      var job = try await setting.attempt(try request())
      #expect(job.state == .suspended)
      #expect(job.reason == "the worker knows no secret 'TOKEN'; tell it, and resume the job")
      #expect(job.attempt == 0)
      #expect(server.requests.isEmpty)
      setting.secrets.withLock { $0["TOKEN"] = "s3cret" }
      try await setting.jobs.queue.resume(job.id)
      try await setting.jobs.drain()
      job = try await setting.job(job.id)
      #expect(job.state == .succeeded)
      #expect(server.requests.map { $0["Authorization"] } == ["Bearer s3cret"])
    }

    @Test func `a secret that can't be had now is waited for, without a word of why`() async throws {
      server.serve("/a", .page(200))
      let setting = OutboxSetting(secrets: ["TOKEN": "locked"])
      let job = try await setting.attempt(try request())
      #expect(job.state == .scheduled)
      #expect(job.attempt == 0)
      #expect(job.progress?.message == "waits: the secret 'TOKEN' can't be had now (Locked)")
      setting.secrets.withLock { $0["TOKEN"] = "s3cret" }
      #expect(try await setting.passTime(for: job).state == .succeeded)
    }

    @Test func `a secret with a line break in it is not sent`() async throws {
      let setting = OutboxSetting(secrets: ["TOKEN": "s3cret\r\nX: y"])
      let job = try await setting.attempt(try request())
      #expect(job.state == .suspended)
      #expect(job.reason?.contains("s3cret") == false)
      #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["{secret:}", "{secret:A B}", "Bearer {secret:TOKEN", "{secret:{secret:A}}"])
    func `a name that can't be read is refused before anything is stored`(value: String) throws {
      let error = #expect(throws: RequestError.self) { try request(value).validate() }
      #expect(error?.code == .invalidRequest)
    }

    /// What a store keeps in its files.
    private func bytes(of folder: TestFolder) -> Data {
      folder.names.filter { $0.hasPrefix("jobs.sqlite") }.reduce(into: Data()) { all, name in
        guard folder.size(name) != nil, let data = FileManager.default.contents(atPath: folder.path(name)) else {
          return
        }
        all += data
      }
    }

    @Test(arguments: [200, 400, 401, 500])
    func `a secret that the server repeats is in no file of the store, in no error and in no answer`(status: Int)
      async throws
    {
      // One lies across the end of what is read, which is a little more than what is kept.
      let echo =
        "you sent s3cret-value, " + String(repeating: "x", count: HTTPAnswer.mostBytes - 9) + "s3cret-value, and more"
      server.serve("/a", .page(status, echo).with("Location", "/?t=s3cret-value").with("ETag", "\"file-value\""))
      let folder = try TestFolder("outbox")
      try folder.write("X-File: file-value\r\n\r\nX-Named: {secret:TOKEN}\n", to: "headers.txt")
      try folder.write("machine 127.0.0.1 login kim password netrc-value", to: "netrc")
      let store = try SQLiteStore(path: folder.path("jobs.sqlite"))
      let events = Lock("")
      let outbox = Outbox(
        store: store, netrc: URL(filePath: folder.path("netrc")), environment: [:], secret: { _ in "s3cret-value" },
        onEvent: { _, request, event in events.withLock { $0 += "\(request) \(event) \(String(reflecting: event))" } })
      let worker = JobWorker(JobQueue(store: store))
      outbox.register(with: worker)
      let request = SendRequest(
        .post, try server.at("/a"), headers: [HTTPHeader("X-Key", "{secret:TOKEN}")],
        headerFiles: [URL(filePath: folder.path("headers.txt"))])
      let id = try await JobQueue(store: store).enqueue(request, options: JobOptions(maxAttempts: 1)).id
      try await worker.runUntilIdle()
      let sent = try #require(server.requests.first)
      #expect(["X-Key", "X-File", "X-Named"].map { sent[$0] } == ["s3cret-value", "file-value", "s3cret-value"])
      #expect(sent["Authorization"] == "Basic " + Data("kim:netrc-value".utf8).base64EncodedString())
      let job = try await store.job(id, detail: .all)
      #expect(job.state == (status == 200 ? .succeeded : .failed))
      if status == 200 {
        let answer = try #require(job.answer)
        #expect(answer.body.starts(with: Data("you sent ***, ".utf8)))
        #expect(answer.isCut)
        #expect(answer["Location"] == "/?t=***")
      } else {
        #expect(job.lastError.contains("you sent ***, xx"), "\(job.lastError)")
      }
      // That it would be found is shown by what is not secret.
      let kept = bytes(of: folder)
      #expect(kept.range(of: Data("{secret:TOKEN}".utf8)) != nil)
      for secret in ["s3cret", "file-value", "netrc-value", Data("kim:netrc-value".utf8).base64EncodedString()] {
        #expect(kept.range(of: Data(secret.utf8)) == nil, "\(secret)")
        #expect(!events.withLock { $0 }.contains(secret))
        #expect(!"\(job) \(String(reflecting: job))".contains(secret))
      }
    }

    @Test(arguments: [200, 400])
    func `what is secret by its name is told as little as a secret`(status: Int) async throws {
      server.serve(
        "/a",
        .page(status, "literal-value api-value query%2Fvalue query/value seven plain-value").with(
          "Location", "/?t=query%2Fvalue"))
      let setting = OutboxSetting()
      let headers = [("Authorization", "Bearer literal-value"), ("X-Api-Key", "api-value"), ("X-Page", "plain-value")]
      let request = SendRequest(
        .post, try server.at("/a?token=query%2Fvalue&page=seven"), headers: headers.map { HTTPHeader($0.0, $0.1) })
      let job = try await setting.attempt(request)
      let told = status == 200 ? job.answer.map { String(decoding: $0.body, as: UTF8.self) } : job.lastError
      #expect(told?.hasSuffix("*** *** *** *** seven plain-value") == true, "\(told ?? "")")
      if status == 200 { #expect(job.answer?["Location"] == "/?t=***") }
    }

    @Test(arguments: [200, 400]) func `what is secret in the query of a redirect is told as little`(status: Int)
      async throws
    {
      server.serve("/a", .redirect(307, to: "/b?sig=redirect-value&page=seven"))
      server.serve("/b", .page(status, "no redirect-value, and seven"))
      let setting = OutboxSetting()
      let job = try await setting.attempt(SendRequest(.post, try server.at("/a")))
      let told = status == 200 ? job.answer.map { String(decoding: $0.body, as: UTF8.self) } : job.lastError
      #expect(told?.hasSuffix("no ***, and seven") == true, "\(told ?? "")")
    }

    @Test(arguments: ["Authorization", "Proxy-Authorization"])
    func `of what is sent in base64 the password is not told either`(name: String) async throws {
      let basic = Data("kim:basic-value".utf8).base64EncodedString()
      server.serve("/a", .page(400, "kim:basic-value is no user, nor is basic-value"))
      let setting = OutboxSetting(secrets: ["TOKEN": basic])
      let job = try await setting.attempt(
        SendRequest(.post, try server.at("/a"), headers: [HTTPHeader(name, "Basic {secret:TOKEN}")]))
      #expect(job.lastError == "the server answered 400 Bad Request: *** is no user, nor is ***")
    }

    @Test func `what a host that it is redirected to repeats of its own password is not told either`() async throws {
      let other = try await LyingServer(on: "127.0.0.2")
      let basic = Data("kim:other-value".utf8).base64EncodedString()
      server.serve("/a", .redirect(307, to: other.url("/b")))
      other.serve("/b", .page(400, "not other-value, which is \(basic)"))
      let folder = try TestFolder("outbox")
      try folder.write("machine 127.0.0.2 login kim password other-value", to: "netrc")
      let setting = OutboxSetting(netrc: URL(filePath: folder.path("netrc")))
      let job = try await setting.attempt(SendRequest(.post, try server.at("/a")))
      #expect(other.requests.map { $0["Authorization"] } == ["Basic \(basic)"])
      #expect(server.requests.map { $0["Authorization"] } == [nil])
      #expect(job.lastError == "the server answered 400 Bad Request: not ***, which is ***")
    }

    @Test(arguments: [200, 400, 307], [true, false])
    func `a password that was told on the way is not told where a later host repeats it`(
      status: Int, isProxys: Bool
    ) async throws {
      let other = try await LyingServer(on: "127.0.0.2")
      // Round and round, if it redirects.
      let echo = LyingAnswer.page(status, "you said first-value").with("Location", other.url("/first-value"))
      other.serve("/first-value", echo)
      let folder = try TestFolder("outbox")
      try folder.write(isProxys ? "" : "machine 127.0.0.1 login kim password first-value", to: "netrc")
      let proxy = server.url("", by: "kim:first-value@127.0.0.1")
      let setting = OutboxSetting(
        environment: isProxys ? ["http_proxy": proxy, "no_proxy": "127.0.0.2"] : [:],
        netrc: URL(filePath: folder.path("netrc")))
      let path = isProxys ? "http://h:1/a" : "/a"
      server.serve(path, .redirect(307, to: other.url("/first-value")))
      let job = try await setting.attempt(
        SendRequest(.post, isProxys ? try #require(URL(string: path)) : try server.at(path)))
      let basic = "Basic " + Data("kim:first-value".utf8).base64EncodedString()
      #expect(server.requests.map { $0[isProxys ? "Proxy-Authorization" : "Authorization"] } == [basic])
      if status == 200 {
        #expect(job.answer.map { String(decoding: $0.body, as: UTF8.self) } == "you said ***")
        #expect(job.answer?["Location"]?.hasSuffix("/***") == true, "\(job)")
      } else {
        #expect(job.lastError.hasSuffix(status == 400 ? "you said ***" : "/***"), "\(job.lastError)")
      }
    }

    @Test func `a file of headers that can't be read suspends the request, with its path and none of its values`()
      async throws
    {
      let folder = try TestFolder("outbox")
      let setting = OutboxSetting()
      for text in [nil, "X-Key s3cret", "X-Key: s3c\u{1}ret", "X Key: s3cret", "X-Key: {secret:s3 cret}"] {
        try text.map { try folder.write($0, to: "headers.txt") }
        let path = folder.path("headers.txt")
        let job = try await setting.attempt(SendRequest(.post, try server.at("/a"), headerFiles: [URL(filePath: path)]))
        #expect(job.state == .suspended)
        #expect(job.reason?.hasPrefix("no headers can be read from \(path): ") == true, "\(job.reason ?? "")")
        #expect(job.reason?.contains("s3c") == false, "\(job.reason ?? "")")
      }
      #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["all_proxy", "http_proxy"])
    func `a proxy that can't be used suspends the request, without its password`(name: String) async throws {
      let setting = OutboxSetting(environment: [name: "https://kim:s3cret@h:1"])
      let job = try await setting.attempt(try request("none"))
      #expect(job.state == .suspended)
      #expect(job.reason?.contains(name) == true)
      #expect(job.reason?.contains("s3cret") == false)
    }

    @Test(arguments: [false, true])
    func `what a proxy repeats of its own password is not told either`(isRedirected: Bool) async throws {
      let proxy = try await LyingServer()
      let basic = Data("kim:proxy-value".utf8).base64EncodedString()
      proxy.serve("http://h:1/a", .page(400, "not proxy-value, which is \(basic)"))
      proxy.serve("http://h:1/", .redirect(307, to: "http://h:1/a"))
      let setting = OutboxSetting(environment: ["http_proxy": proxy.url("", by: "kim:proxy-value@127.0.0.1")])
      let job = try await setting.attempt(
        SendRequest(.post, try #require(URL(string: isRedirected ? "http://h:1/" : "http://h:1/a"))))
      #expect(proxy.requests.last?["Proxy-Authorization"] == "Basic \(basic)")
      #expect(job.lastError == "the server answered 400 Bad Request: not ***, which is ***")
    }

    @Test func `a proxy that wants a password suspends the request, and says so`() async throws {
      let proxy = try await LyingServer()
      proxy.serve("http://h:1/a", .page(407))
      let setting = OutboxSetting(environment: ["http_proxy": proxy.url("")])
      let job = try await setting.attempt(SendRequest(.post, try #require(URL(string: "http://h:1/a"))))
      #expect(job.state == .suspended, "\(job)")
      #expect(job.reason?.hasPrefix("the proxy 127.0.0.1:\(proxy.port) wants a user and a password") == true)
    }

    @Test(arguments: [302, 307])
    func `a redirect that has a secret in it is told without`(status: Int) async throws {
      server.serve("/a", .redirect(status, to: "mailto:s3cret"))
      let setting = OutboxSetting(secrets: ["TOKEN": "s3cret"])
      let job = try await setting.attempt(try request())
      #expect(job.state == .failed)
      #expect(job.lastError.contains("mailto:***"), "\(job.lastError)")
    }

    @Test func `a user in the URL is refused, and told without the password`() throws {
      let request = SendRequest(.get, try server.at("/a", by: "kim:s3cret@127.0.0.1"))
      let error = #expect(throws: RequestError.self) { try request.validate() }
      #expect(error?.message.contains("s3cret") == false)
      #expect(error?.message.contains("{secret:TOKEN}") == true)
    }

    @Test func `a request says nothing of its headers and its body, in whatever way it is printed`() throws {
      let request = SendRequest(
        .post, try server.at("/a"), headers: [HTTPHeader("X-Key", "s3cret")], body: .data(Data("s3cret".utf8)))
      var dumped = ""
      dump(request, to: &dumped)
      dump(request.headers, to: &dumped)
      for text in [dumped, "\(request)", "\([request])", String(reflecting: request)] {
        #expect(!text.contains("s3cret"))
      }
    }
  }
#endif
