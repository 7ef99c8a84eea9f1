#if HTTP
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// Pages for people that come in place of a file, as from a log-in before a network.
  @Suite struct PageTests {
    let server: LyingServer
    let setting: Setting

    init() async throws {
      server = try await LyingServer()
      setting = try Setting()
      server.serve("/log-in", .page(200, "<html>Please log in.</html>"))
      server.serve("/silent-log-in", Self.silent)
    }

    /// It doesn't say what it is.
    private static let silent = LyingAnswer.page(200, "\u{feff}\r\n<!DOCTYPE HTML>Please log in.").without(
      "Content-Type")

    private static let large = Content(8_000_000)

    /// The answers of a network that wants a log-in.
    private static let gates: [LyingAnswer] = [
      .page(200, "<html>Please log in.</html>"), .page(200).framed(.chunked), .redirect(302, to: "/log-in"),
      .redirect(307, to: "/log-in"), silent, silent.framed(.chunked), .redirect(302, to: "/silent-log-in"),
    ]

    @Test(
      arguments: gates + [.page(200).with("Content-Type", "application/octet-stream")], ["/a.bin", "/get?id=5"])
    func `a page in place of the rest of a file costs nothing of it`(gate: LyingAnswer, path: String) async throws {
      let file = LyingAnswer.file(Self.large)
      let way = String(path.prefix { $0 != "?" })
      server.serve(way, file.breaking(after: 5_000_000), gate, file)
      let job = try await setting.fetch(setting.download(server.url(path), named: nil), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.attempt == 2)
      #expect(job.lastError.contains("web page") && job.lastError.contains("log-in"), "\(job.lastError)")
      #expect(server.requests(path).map(\.rangeStart) == [nil, 5_000_000, 5_000_000])
      #expect(try setting.folder.holds(Self.large, as: String(way.dropFirst())))
    }

    @Test func `words in place of the rest of a file are not the file, though they are said to be a newer version`()
      async throws
    {
      let file = LyingAnswer.file(Self.large)
      let words = LyingAnswer.file(
        Content("Down for maintenance."), etag: "\"m\"", lastModified: "Tue, 06 Jan 2026 10:20:30 GMT")
      server.serve("/disk.img", file.breaking(after: 5_000_000), words.with("Content-Type", "text/plain"), file)
      let job = try await setting.fetch(setting.download(server.url("/disk.img")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.lastError.contains("text/plain in place of the file"), "\(job.lastError)")
      #expect(try setting.folder.holds(Self.large, as: "disk.img"))
    }

    @Test(arguments: ["/LICENSE", "/disk.img"])
    func `text in place of the rest of a file is the file once it has come ten times, and not before`(path: String)
      async throws
    {
      let text = LyingAnswer.file(Self.large, etag: "\"text\"").with("Content-Type", "text/plain")
      server.serve(path, .file(content).breaking(after: 500_000), text)
      let job = try await setting.fetch(setting.download(server.url(path)), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.failures.count == 9)
      #expect(
        job.lastError.contains("If it does so 10 times in a row, and for four minutes, it is the file."),
        "\(job.lastError)")
      let name = String(path.dropFirst())
      #expect(try setting.folder.holds(Self.large, as: name))
      #expect(setting.folder.names == [name])
    }

    private static let word = LyingAnswer.file(Content("Try again."), etag: "\"word\"")
      .with("Content-Type", "text/plain")

    @Test func `text that comes ten times within no time is not the file, whoever asks again and again`() async throws {
      server.serve("/disk.img", .file(content).breaking(after: 500_000), Self.word)
      _ = try await {
        async let job = setting.attempt(setting.download(server.url("/disk.img")))
        await server.held("/disk.img")
        try await setting.arrived(500_000)
        server.release()
        return try await job
      }()
      for _ in 1...12 {
        let other = try Setting(in: setting.folder)
        let job = try await other.attempt(other.download(server.url("/disk.img")))
        #expect(job.state != .succeeded)
      }
      #expect(setting.folder.size("disk.img.part") == 500_000)
    }

    @Test(arguments: [LyingAnswer.page(503), .page(503, "Busy.").with("Content-Type", "text/plain")])
    func `text that comes ten times is not the file if anything else was said in between`(other: LyingAnswer)
      async throws
    {
      let words = Array(repeating: Self.word, count: 9)
      let file = LyingAnswer.file(content)
      server.serve("/disk.img", [file.breaking(after: 500_000)] + words + [other, Self.word, file])
      let job = try await setting.fetch(setting.download(server.url("/disk.img")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "disk.img"))
    }

    @Test(arguments: [true, false])
    func `text that is another each time, or says no version, never stands for the rest of a file`(isOther: Bool)
      async throws
    {
      let words = (1...30).map { number in
        LyingAnswer.file(Content("Try again."), etag: isOther ? "\"\(number)\"" : nil, lastModified: nil)
          .with("Content-Type", "text/plain")
      }
      server.serve("/disk.img", [.file(content).breaking(after: 500_000)] + words)
      let job = try await setting.fetch(setting.download(server.url("/disk.img")), from: server)
      #expect(job.state == .failed)
      #expect(!isOther || job.failures.allSatisfy { $0.message.contains("text/plain in place of the file") })
      #expect(setting.folder.size("disk.img.part") == 500_000)
    }

    @Test(arguments: [
      ("a.svg", true), ("a.dylib", true), ("a.heif", true), ("a.tar.zst", true), ("a", false), ("a.html", false),
      ("index.html.en", false), ("Mr._Bean", false), ("1.2", false), ("a.php", false),
    ]) func `a page is no file of most endings`(name: String, isRefused: Bool) async throws {
      server.serve("/\(name)", .page(200, "<!doctype html><html>Please log in."))
      let job = try await setting.attempt(setting.download(server.url("/\(name)")))
      #expect((job.state == .succeeded) == !isRefused, "\(job)")
    }

    @Test func `a page stays in front of a part that can't be gone on from, without a checksum too`() async throws {
      let file = LyingAnswer.file(Self.large, etag: nil, lastModified: nil)
      server.serve("/get", file.breaking(after: 5_000_000), .page(200))
      let job = try await setting.fetch(setting.download(server.url("/get")), from: server)
      #expect(job.state == .failed)
      #expect(Set(setting.errors.map(\.code)) == [.wrongContent])
      #expect(setting.folder.size("get.part") == 5_000_000)
    }

    @Test(arguments: ["install.sh", "data.json", "a.woff2"])
    func `text for programs may be declared a page, and is none where it does not begin as one`(name: String)
      async throws
    {
      let text = LyingAnswer.file(Content("echo hello"), etag: nil).with("Content-Type", "text/html")
      server.serve("/\(name)", .page(200, "<!doctype html><html>Please log in."), text)
      let job = try await setting.fetch(setting.download(server.url("/\(name)")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.failures.count == 1 && job.lastError.contains("web page"), "\(job.failures)")
      #expect(try setting.folder.text(name) == "echo hello")
    }

    @Test(arguments: gates) func `a page is no file of that name: another attempt finds it`(gate: LyingAnswer)
      async throws
    {
      server.serve("/a.bin", gate, .file(content))
      let job = try await setting.fetch(setting.download(server.url("/a.bin")))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.failures.count == 1)
      #expect(try setting.folder.holds(content, as: "a.bin"))
      #expect(setting.folder.names == ["a.bin"])
    }

    @Test(arguments: ["/data.json", "/install.sh", "/model.ckpt"])
    func `a page that a redirect leads to is no file of any ending but a page's`(path: String) async throws {
      server.serve(path, .redirect(302, to: "/log-in"), .file(content))
      let job = try await setting.fetch(setting.download(server.url(path)))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(job.failures.count == 1 && job.lastError.contains("web page"), "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: String(path.dropFirst())))
    }

    @Test(arguments: ["/about", "/v1.2", "/start.php", "/data.json"])
    func `a page comes from where it was asked for, and from elsewhere where it may be meant`(path: String) async throws
    {
      server.serve(path, path == "/data.json" ? .page(200, "<p>One.</p>") : .redirect(302, to: "/log-in"))
      let job = try await setting.fetch(setting.download(server.url(path)))
      #expect(job.state == .succeeded, "\(job.lastError)")
    }

    @Test(arguments: [
      ("/get", "<html>One."), ("/a.bin", "<htmlx>"), ("/a.bin", " <"), ("/a.bin", "a<html>"), ("/a.bin", ""),
      ("/page.html", "<!doctype html>One."),
    ])
    func `what doesn't say its type is a file if it can be the one that was asked for`(path: String, text: String)
      async throws
    {
      server.serve(path, .page(200, text).without("Content-Type"))
      let job = try await setting.fetch(setting.download(server.url(path)))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.text(String(path.dropFirst())) == text)
    }

    @Test func `a page that doesn't say that it is one may be newer, too`() async throws {
      let page = LyingAnswer.page(200, "<html>" + String(repeating: "One. ", count: 200_000)).without("Content-Type")
      server.serve("/about", page.breaking(after: 500_000), Self.silent)
      let job = try await setting.fetch(setting.download(server.url("/about")), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.text("about").hasSuffix("Please log in."))
    }

    @Test(arguments: [true, false], gates)
    func `nor is one that does not fit to what was asked for`(bySize: Bool, gate: LyingAnswer) async throws {
      server.serve("/get", gate, .file(content))
      let job = try await setting.fetch(
        setting.download(
          server.url("/get"), sha256: bySize ? nil : content.sha256, size: bySize ? content.size : nil))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.holds(content, as: "get"))
      #expect(job.failures.count == 1)
      #expect(job.lastError.contains("page"), "\(job.lastError)")
      #expect(server.requests("/get").map(\.rangeStart) == [nil, nil])
    }

    @Test(arguments: [LyingAnswer.Framing.length, .chunked])
    func `a page that is asked for by its size comes`(framing: LyingAnswer.Framing) async throws {
      let text = String(repeating: "<p>One.</p>", count: 1000)
      server.serve("/about", .page(200, text).framed(framing))
      let job = try await setting.fetch(setting.download(server.url("/about"), size: Int64(text.utf8.count)))
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.text("about") == text)
    }

    @Test(arguments: [LyingAnswer.Framing.length, .chunked])
    func `a page that is asked for by its checksum comes, though it is cut`(framing: LyingAnswer.Framing) async throws {
      let text = String(repeating: "<p>One.</p>", count: 100_000)
      let page = LyingAnswer.page(200, text).framed(framing)
      server.serve("/about", page.breaking(after: 500_000), page)
      let sum = Content(text).sha256
      let job = try await setting.fetch(setting.download(server.url("/about"), sha256: sum), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.text("about") == text)
    }

    @Test(arguments: ["/about", "/index.html"])
    func `a page that is asked for is a file, and so is a newer one in its place`(path: String) async throws {
      let page = LyingAnswer.page(200, String(repeating: "<p>One.</p>", count: 100_000))
      server.serve(path, page.breaking(after: 500_000), .page(200, "<p>Two.</p>"))
      let job = try await setting.fetch(setting.download(server.url(path)), from: server)
      #expect(job.state == .succeeded, "\(job.lastError)")
      #expect(try setting.folder.text(String(path.dropFirst())) == "<p>Two.</p>")
    }
  }
#endif
