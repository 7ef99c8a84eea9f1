#if Shell
  import DurableJobs
  import Foundation
  import LyingServer
  import Subprocess
  import Testing

  @Suite("durable get keeps secrets")
  struct GetSecretsTests {
    let durable: Durable
    let server: LyingServer
    private let content = Content(300_000)

    init() async throws {
      durable = try Durable()
      server = try await LyingServer()
      try FileManager.default.createDirectory(atPath: durable.folder + "/out", withIntermediateDirectories: false)
    }

    /// With a user and a password.
    private func url(_ path: String) -> String { server.url(path, by: "me:hush@\(server.host)") }

    @Test(
      "neither passwords nor the values of headers are printed, whatever happens", arguments: [[], ["--json"]])
    func printed(options: [String]) async throws {
      server.serve("/held.bin", .file(content).holding(after: 0))
      server.serve("/a.bin", .file(content))
      let arguments = options + ["-H", "X-Token: hush", "-o", "out"]
      let outcome = try await durable.get(arguments + [url("/held.bin"), url("/a.bin"), url("/missing.bin")]) {
        [server] process in
        await server.held("/held.bin")
        await server.until { $0.contains { $0.path == "/a.bin" && $0.isOver } }
        kill(process, SIGINT)
      }
      #expect(outcome.status == .exited(130))
      let hint = "Go on with: durable get \((options + ["-o", "out", server.url("/held.bin")]).joined(separator: " "))"
      #expect(outcome.stderr.contains(hint), "\(outcome.stderr)")
      #expect(outcome.stderr.contains("the password and the headers again"))
      #expect(!outcome.stderr.contains("hush"))
      #expect(outcome.text.contains(server.url("/a.bin")))
      #expect(!outcome.text.contains("hush"), "\(outcome.text)")
      #expect(!outcome.text.contains(Data("me:hush".utf8).base64EncodedString()))
      let request = try #require(server.requests("/a.bin").first)
      #expect(request["X-Token"] == "hush")
      #expect(request["Authorization"] == "Basic " + Data("me:hush".utf8).base64EncodedString())
    }

    @Test("on a terminal neither the bars nor the hint show them")
    func onTerminal() async throws {
      server.serve("/", .file(content).holding(after: 150_000))
      let outcome = try await durable.onTerminal(
        "get", "-H", "X-Token: hush", "-o", "out", url("/"), columns: 300, environment: ["XTERM_VERSION": "test"]
      ) { terminal in
        let bar = try await terminal.shows("50 %")
        #expect(!bar.text.contains("hush"))
        terminal.press("\u{3}")
        try await terminal.shows("Go on with: durable get -o out \(server.url("/"))")
      }
      #expect(outcome.status == .exited(130))
      #expect(!outcome.text.text.contains("hush"))
    }

    @Test("what is stored only shows none either, also when it is looked at", arguments: [[], ["--json"]])
    func stored(options: [String]) async throws {
      let outcome = try await durable.run(
        (["get", "--detach"] + options + ["-H", "X-Token: hush", url("/a.bin")]).map { Array($0.utf8) })
      #expect(outcome.status == .exited(0))
      #expect(!(outcome.text + outcome.stderr).contains("hush"), "\(outcome.text)")
      let shown = try await durable("show", "1").text
      #expect(shown.hasPrefix("durable get 'http://me:***@"), "\(shown)")
      #expect(!shown.contains("hush"), "\(shown)")
      #expect(try await !durable("status").text.contains("hush"))
    }

    @Test("a header may follow its option at once, as with curl, and is not printed", arguments: ["hush", "hush=="])
    func joined(value: String) async throws {
      server.serve("/a.bin", .file(content))
      let outcome = try await durable(
        "get", "-HAuthorization: Bearer \(value)", "-HX-One:1", "-o", "out", server.url("/a.bin"))
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(!(outcome.stderr + outcome.text).contains("hush"))
      let request = try #require(server.requests("/a.bin").first)
      #expect(request["Authorization"] == "Bearer \(value)")
      #expect(request["X-One"] == "1")
    }

    @Test("a password with a question mark is not printed")
    func questionMark() async throws {
      let outcome = try await durable("get", "-o", "out", "http://bob:hush?x@127.0.0.1:1/f")
      #expect(outcome.status == .exited(2))
      #expect(!outcome.stderr.contains("hush"), "\(outcome.stderr)")
    }

    @Test("headers come from a file and from standard input", arguments: ["headers.txt", "-"])
    func headers(name: String) async throws {
      server.serve("/a.bin", .file(content))
      let text = "\u{feff}X-One: first\r\n\r\nX-Two:second\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/headers.txt"))
      let outcome = try await durable.shell(
        "\"$DURABLE\" get -H @\(name) -H 'X-Three: third' -o out \(server.url("/a.bin")) < headers.txt")
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      let request = try #require(server.requests("/a.bin").first)
      #expect(["X-One", "X-Two", "X-Three"].map { request[$0] } == ["first", "second", "third"])
    }

    @Test(
      "a password comes from ~/.netrc or another file, also for a worker, and is not stored",
      arguments: [
        (["get"], "hush"), (["get", "--netrc-file", "other"], "hush too"), (["get", "--netrc-file", "none"], nil),
        (["get", "--detach"], "hush"),
      ] as [([String], String?)])
    func netrc(arguments: [String], password: String?) async throws {
      server.serve("/a.bin", .file(content))
      let line = "machine \(server.host) login me password"
      for (name, text) in [(".netrc", "\(line) hush"), ("other", "\(line) \"hush too\""), ("none", "")] {
        try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/" + name))
      }
      let words = arguments + ["-o", "out", server.url("/a.bin")]
      let outcome = try await durable.run(words.map { Array($0.utf8) }, environment: ["HOME": durable.folder])
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      let work = try await durable("work", "--drain", environment: ["HOME": durable.folder])
      #expect(work.status == .exited(0), "\(work.stderr)")
      let request = try #require(server.requests("/a.bin").first)
      #expect(request["Authorization"] == password.map { "Basic " + Data("me:\($0)".utf8).base64EncodedString() })
      #expect(try await !durable("show", "1", "--json").text.contains("hush"))
    }

    @Test("a file of passwords in any character set is read, byte by byte")
    func netrcOfBytes() async throws {
      server.serve("/a.bin", .file(content))
      let password: [UInt8] = [0x68, 0xe9, 0x85, 0x21]
      let line =
        Data("machine elsewhere login me password x\nmachine \(server.host) login me password ".utf8) + password
      try line.write(to: URL(fileURLWithPath: durable.folder + "/.netrc"))
      let outcome = try await durable(
        "get", "-o", "out", server.url("/a.bin"), environment: ["HOME": durable.folder])
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      let expected = "Basic " + (Data("me:".utf8) + password).base64EncodedString()
      #expect(server.requests("/a.bin").first?["Authorization"] == expected)
    }

    @Test("a ~/.netrc that can't be read is told once, and the files come", arguments: [nil, "machine a login \"hush"])
    func brokenNetrc(text: String?) async throws {
      server.serve("/a.bin", .file(content))
      server.serve("/b.bin", .file(content))
      let path = durable.folder + "/.netrc"
      if let text {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      } else {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
      let outcome = try await durable(
        "get", "-o", "out", server.url("/a.bin"), server.url("/b.bin"), environment: ["HOME": durable.folder])
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(outcome.stderr.components(separatedBy: path).count == 2, "\(outcome.stderr)")
      #expect(!outcome.stderr.contains("hush"))
    }

    @Test("a URL with and without a password is one file, which is fetched once")
    func sameFile() async throws {
      server.serve("/a.bin", .file(content))
      let outcome = try await durable("get", "-o", "out", url("/a.bin"), server.url("/a.bin"))
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(outcome.stderr.contains("1 of the URLs is named twice"))
      #expect(server.requests("/a.bin").count == 1)
    }
  }
#endif
