#if Shell
  import DurableJobs
  import Foundation
  import LyingServer
  import Subprocess
  import Testing

  @testable import durable

  @Suite("durable get joins what is there")
  struct GetJoinTests {
    let durable: Durable
    let server: LyingServer
    private let content = Content(300_000)

    init() async throws {
      durable = try Durable()
      server = try await LyingServer()
      try FileManager.default.createDirectory(atPath: durable.folder + "/out", withIntermediateDirectories: false)
    }

    private func write(_ paths: [String], _ name: String) throws {
      let text = paths.map { server.url($0) + "\n" }.joined()
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/" + name))
    }

    private var files: Set<String> {
      get throws { Set(try FileManager.default.contentsOfDirectory(atPath: durable.folder + "/out")) }
    }

    @Test("a list of more than a page comes whole, also where the end of it was stored before in another queue")
    func longList() async throws {
      let names = (0..<DownloadIntake.page + 20).map { "\($0).bin" }
      for name in names { server.serve("/" + name, .file(Content(100))) }
      try write(names.suffix(10).map { "/" + $0 }, "end.txt")
      try write(names.map { "/" + $0 }, "list.txt")
      #expect(
        try await durable("get", "--detach", "--queue", "nightly", "-o", "out", "-i", "end.txt").status == .exited(0))
      let outcome = try await durable("get", "-o", "out", "-i", "list.txt")
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(outcome.stderr.contains("\(names.count) of \(names.count) done"))
      #expect(outcome.text.split(separator: "\n").count { $0.contains("done") } == names.count)
      #expect(try files == Set(names))
    }

    @Test("one that another process fetches with other options is told at the end, and the others come")
    func runsOtherwise() async throws {
      server.serve("/held.bin", .file(content).holding(after: 100_000))
      server.serve("/a.bin", .file(content))
      let held = server.url("/held.bin")
      let first = try await durable.get(["-o", "out", held]) { [durable, server] _ in
        await server.held("/held.bin")
        let second = try await durable("get", "--remote-time", "-o", "out", held, server.url("/a.bin"))
        #expect(second.status == .exited(1))
        #expect(second.stderr.contains("held.bin: job 1 is fetching \(held) already, with other options"))
        #expect(second.stderr.contains("1 of 2 done, 1 refused"))
        let third = try await durable("get", "--detach", "--remote-time", "-o", "out", held, server.url("/b.bin"))
        #expect(third.status == .exited(1))
        #expect(third.stderr.contains("with other options"))
        #expect(third.line == "3")
        server.release()
      }
      #expect(first.status == .exited(0), "\(first.stderr)")
      #expect(try files == ["held.bin", "a.bin"])
    }

    @Test("what a job that is joined lacks of what was asked for is told")
    func lacks() async throws {
      server.serve("/a.bin", .file(content))
      let url = server.url("/a.bin")
      #expect(try await durable("get", "--detach", "-o", "out", url).line == "1")
      let joined = try await durable("get", "--tag", "new", "-o", "out", url)
      #expect(joined.status == .exited(0))
      #expect(joined.stderr == "Job 1 is to fetch \(url) already: nothing was added, and it is not tagged 'new'\n")
    }

    @Test("what is to be typed names the store")
    func namesStore() async throws {
      server.serve("/held.bin", .file(content).holding(after: 100_000))
      let held = server.url("/held.bin")
      let store = durable.folder + "/other.sqlite"
      let first = try await durable.get(["--store", store, "-o", "out", held]) { [durable, server] _ in
        await server.held("/held.bin")
        let refused = try await durable("get", "--store", store, "--remote-time", "-o", "out", held)
        #expect(refused.stderr.contains("end it with: durable cancel 1 --store \(store)\n"), "\(refused.stderr)")
        let suspended = try await durable("suspend", "1", "--store", store)
        #expect(suspended.status == .exited(0))
      }
      #expect(first.status == .exited(1))
      #expect(first.stderr.contains("Go on with: durable resume 1 --store \(store)\n"), "\(first.stderr)")
    }

    @Test("a list with options of each file, and a file of checksums, brings each as it is to be; -q says nothing")
    func options() async throws {
      for name in ["a", "b", "c"] { server.serve("/" + name, .file(content)) }
      let text = "\(server.url("/a"))\n  out=first.bin\n  dir=out\n  header=X-Token: hush\n\(server.url("/b"))\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      let listed = try await durable("get", "-q", "-i", "list.txt")
      #expect(listed.status == .exited(0), "\(listed.stderr)")
      #expect(listed.text + listed.stderr == "")
      #expect(try files == ["first.bin"])
      #expect(FileManager.default.fileExists(atPath: durable.folder + "/b"))
      #expect(server.requests("/a").first?["X-Token"] == "hush")
      #expect(server.requests("/b").first?["X-Token"] == nil)
      let sums = try await durable.shell(
        "sha256sum b | sed 's/  b/  c/' > SUMS; sha256sum SUMS | sed 's/SUMS/b/' > WRONG")
      #expect(sums.status == .exited(0))
      #expect(try await durable("get", "--sha256sums", "SUMS", "-o", "out", server.url("/c")).status == .exited(0))
      let wrong = try await durable("get", "-q", "--sha256sums", "WRONG", "-o", "out", server.url("/b"))
      #expect(wrong.status == .exited(1))
      #expect(wrong.stderr.contains("b: "), "\(wrong.stderr)")
      #expect(try await durable("get", "--sha256sums", "SUMS", server.url("/a")).status == .exited(2))
    }

    @Test(
      "a sum is found by the name in its list, though the file gets a harmless one, and though it is written with escapes"
    )
    func sumsOfOddNames() async throws {
      let sums = (1...4).map { String(repeating: "\($0)", count: 64) }
      let lines = [
        "\(sums[0])  .env.tar", "\(sums[1]) *-rf", #"\\#(sums[2])  a\\b.tar"#, "\(sums[3])  c.tar",
      ]
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(
        to: URL(fileURLWithPath: durable.folder + "/SUMS"))
      let paths = ["/.env.tar", "/-rf", "/a%5Cb.tar", "/c.tar"]
      let stored = try await durable.run(
        (["get", "--detach", "--sha256sums", "SUMS"] + paths.map { server.url($0) }).map { Array($0.utf8) })
      #expect(stored.text == "1\n2\n3\n4\n", "\(stored.stderr)")
      for (id, sum) in zip(1..., sums) { #expect(try await durable("show", "\(id)").text.contains(sum)) }
    }

    @Test("of two sums of one name, that counts whose path is the URL's end; else both lines are told")
    func sumsOfOneName() async throws {
      let (one, two) = (String(repeating: "1", count: 64), String(repeating: "2", count: 64))
      try Data("\(one)  en/f.bin\n\(two)  de/f.bin\n".utf8).write(
        to: URL(fileURLWithPath: durable.folder + "/SUMS"))
      func get(_ paths: String...) async throws -> Durable.Outcome {
        try await durable.run(
          (["get", "--detach", "--sha256sums", "SUMS"] + paths.map { server.url($0) }).map { Array($0.utf8) })
      }
      #expect(try await get("/x/en/f.bin", "/de/f.bin").text == "1\n2\n")
      for (id, sum) in [("1", one), ("2", two)] {
        #expect(try await durable("show", id).text.contains(sum))
      }
      let unclear = try await get("/fr/f.bin")
      #expect(unclear.status == .exited(2))
      #expect(unclear.stderr.contains("SUMS:1") && unclear.stderr.contains("SUMS:2"), "\(unclear.stderr)")
      // The same sum twice is one.
      try Data("\(one)  en/f.bin\n\(one)  de/f.bin\n".utf8).write(
        to: URL(fileURLWithPath: durable.folder + "/SUMS"))
      #expect(try await get("/fr/f.bin").status == .exited(0))
    }

    @Test("with --concurrency 16, sixteen files of one host come at once")
    func concurrency() async throws {
      let paths = (0..<20).map { "/\($0).bin" }
      for path in paths { server.serve(path, .file(content).holding(after: 0)) }
      try write(paths, "list.txt")
      let outcome = try await durable.get(["--concurrency", "16", "-o", "out", "-i", "list.txt"]) { [server] _ in
        await server.until { $0.count(where: \.isHeld) == 16 }
        for path in paths { server.serve(path, .file(content)) }
        server.release()
      }
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(server.highestRequests == 16)
    }
  }
#endif
