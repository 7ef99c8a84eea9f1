#if HTTP
  import Foundation
  import LyingServer
  import TestProcesses
  import Testing

  /// What a download asks of the operating system, and in which order: no kill shows what a power cut would.
  @Suite(.enabled(if: Trace.isPossible, "needs strace, and the right to trace"))
  struct FlushTests {
    let folder: TestFolder
    let stores: TestFolder
    let server: LyingServer

    init() async throws {
      folder = try TestFolder()
      stores = try TestFolder("stores")
      server = try await LyingServer()
    }

    /// Fetches `/a.bin` in a process of its own, and returns what that asked for.
    private func trace(_ options: String...) async throws -> Trace {
      let path = stores.path("trace")
      let probe = try await Probe(
        server.url("/a.bin"), into: folder, store: stores.path("jobs.sqlite"), trace: path, options
      ).end()
      #expect(probe.result == "fetched", "\(probe.error)")
      return try Trace(of: path)
    }

    @Test func `what is recorded is flushed before, and so is what is named, and its name before it is told`()
      async throws
    {
      // More than is taken from a connection before it is flushed.
      let content = Content(80_000_000)
      server.serve("/a.bin", .file(content))
      let trace = try await trace()
      let part = folder.path("a.bin.part")
      let recorded = trace.calls("pwrite64", on: part + ".json").compactMap { call in
        call.arguments.firstMatch(of: #/"(\d+) \w+\\n"/#).flatMap { Int64($0.1) }.map { (call, length: $0) }
      }
      #expect(recorded.count >= 2, "it is flushed on the way")
      for (call, length) in recorded { #expect(trace.flushed(part, before: call) >= length) }
      let named = try #require(trace.calls("linkat").first { $0.arguments.contains(#""a.bin""#) })
      #expect(trace.flushed(part, before: named) == content.size)
      let last = try #require(trace.calls("pwrite64", on: part + ".json").last { $0.begin < named.begin })
      #expect(trace.calls("fsync", on: part + ".json").contains { $0.begin > last.end && $0.end < named.begin })
      let kept = try #require(trace.calls("fsync", on: folder.url.path).first { $0.begin > named.end })
      let stored = trace.calls("pwrite64", on: stores.path("jobs.sqlite-wal")).filter { $0.begin > kept.end }
      let told = try #require(trace.calls("write").first { $0.arguments.contains(#""done fetched"#) })
      #expect(stored.contains { $0.end < told.begin })
    }

    @Test func `a part is made once its record is on the disk, and is in its folder before it counts`() async throws {
      server.serve("/a.bin", .file(Content(10_000_000)))
      let trace = try await trace()
      let (part, record) = (folder.path("a.bin.part"), folder.path("a.bin.part.json"))
      let made = try #require(trace.calls("openat").first { $0.arguments.contains(#""a.bin.part""#) })
      let said = try #require(trace.calls("pwrite64", on: record).first)
      let kept = try #require(trace.calls("fsync", on: record).first { $0.begin > said.end })
      let found = try #require(trace.calls("fsync", on: folder.url.path).first { $0.begin > kept.end })
      #expect(found.end < made.begin)
      let counts = try #require(
        trace.calls("pwrite64", on: record).first { $0.arguments.contains(#/"\d+ \w+\\n"/#) })
      #expect(trace.calls("fsync", on: part).contains { $0.begin > made.end && $0.end < counts.begin })
      #expect(trace.calls("fsync", on: folder.url.path).contains { $0.begin > made.end && $0.end < counts.begin })
      for line in trace.calls("pwrite64", on: record) where line.arguments.contains(#/"\d+ \w+\\n"/#) {
        let next = trace.calls("pwrite64", on: record).first { $0.begin > line.end }?.begin ?? .max
        #expect(trace.calls("fsync", on: record).contains { $0.begin > line.end && $0.end < next })
      }
    }

    @Test func `a small file is flushed before it is named, and its name before it is told`() async throws {
      server.serve("/a.bin", .file(Content(10_000)))
      let trace = try await trace()
      let named = try #require(trace.calls("linkat").first { $0.arguments.contains(#""a.bin""#) })
      let mark = try #require(named.arguments.firstMatch(of: #/"(a\.bin~\w{8}\.new\.part)"/#).map { String($0.1) })
      #expect(trace.flushed(folder.path(mark), before: named) == 10_000)
      let kept = try #require(trace.calls("fsync", on: folder.url.path).first { $0.begin > named.end })
      let told = try #require(trace.calls("write").first { $0.arguments.contains(#""done fetched"#) })
      #expect(kept.end < told.begin)
    }

    @Test func `a small file costs two flushes, and few looks at its folder`() async throws {
      server.serve("/a.bin", .file(Content(10_000)))
      let trace = try await trace()
      let name = folder.path("a.bin")
      let flushes = trace.calls("fsync").compactMap(\.path)
      #expect(flushes.filter { $0.hasPrefix(name) }.count == 1)
      #expect(flushes.filter { $0 == folder.url.path }.count == 1)
      let looks = trace.calls("newfstatat").filter {
        $0.path.map { $0.hasPrefix(folder.url.path) } ?? false
          || $0.arguments.hasPrefix("AT_FDCWD, \"\(folder.url.path)")
      }
      #expect(looks.count <= 27)
    }

    @Test func `a large file is not looked at with each piece that comes`() async throws {
      server.serve("/a.bin", .file(Content(10_000_000)))
      let trace = try await trace()
      let part = folder.path("a.bin.part")
      #expect(trace.calls("pwrite64", on: part).count > 20)
      #expect(trace.calls("newfstatat", on: part).count <= 12)
    }

    @Test func `a small file is written once where nothing can be noted on it`() async throws {
      let content = Content(10_000)
      server.serve("/a.bin", .file(content))
      let trace = try await trace("-e", "inject=fsetxattr:error=EOPNOTSUPP")
      #expect(try folder.holds(content, as: "a.bin"))
      #expect(trace.calls("pwrite64").filter { $0.result == content.size }.map(\.path) == [folder.path("a.bin.part")])
    }

    @Test func `a part is given up only once that is on the disk`() async throws {
      // Nothing tells its versions apart: it can't be gone on with.
      server.serve(
        "/a.bin", .file(content, etag: nil, lastModified: nil).cut(after: 500_000),
        .file(changed, etag: nil, lastModified: nil))
      let trace = try await trace()
      #expect(try folder.holds(changed, as: "a.bin"))
      let part = folder.path("a.bin.part")
      let written = try #require(trace.calls("pwrite64", on: part).first)
      let cut = try #require(
        trace.calls("ftruncate", on: part).first { $0.begin > written.end && $0.arguments.hasSuffix(", 0") })
      let record = try #require(trace.calls("pwrite64", on: part + ".json").last { $0.end < cut.begin })
      #expect(trace.calls("fsync", on: part + ".json").contains { $0.begin > record.end && $0.end < cut.begin })
    }

    @Test func `a part of another version goes once the new file has its name on the disk`() async throws {
      server.serve("/a.bin", .file(content).cut(after: 500_000), .file(changed, etag: "\"second\""))
      let trace = try await trace()
      #expect(try folder.holds(changed, as: "a.bin"))
      let named = try #require(trace.calls("linkat").first { $0.arguments.contains(#""a.bin""#) })
      #expect(trace.flushed(folder.path("a.bin~new.part"), before: named) == changed.size)
      let kept = try #require(trace.calls("fsync", on: folder.url.path).first { $0.begin > named.end })
      let gone = trace.calls("unlinkat").filter { $0.arguments.contains(#/"a\.bin\.part/#) }
      #expect(gone.count == 2, "the part and its record")
      #expect(gone.allSatisfy { $0.begin > kept.end })
      let part = folder.path("a.bin.part")
      #expect(!trace.calls("ftruncate", on: part).contains { $0.arguments.hasSuffix(", 0") })
    }

    #if Shell
      @Test(arguments: ["get", "send"])
      func `a folder that is made is in its own folder before anything is in it`(verb: String) async throws {
        server.serve("/a.bin", .file(Content(10_000)))
        try Data(count: 100_000).write(to: URL(filePath: folder.path("body")))
        let words =
          verb == "get"
          ? ["get", "-o", folder.path("new"), server.url("/a.bin")]
          : ["send", "POST", server.url("/a.bin"), "-d", "@\(folder.path("body"))"]
        let trace = try await trace(of: words)
        let new = verb == "get" ? folder.path("new") : stores.path("jobs.sqlite-outbox")
        let made = try #require(
          (trace.calls("mkdir") + trace.calls("mkdirat")).first { $0.arguments.contains("\"\(new)\"") })
        let used = try #require(
          trace.calls("openat").first {
            $0.begin > made.end && $0.arguments.contains("O_CREAT")
              && $0.arguments.contains(verb == "get" ? "a.bin" : new)
          })
        let parent = (new as NSString).deletingLastPathComponent
        #expect(trace.calls("fsync", on: parent).contains { $0.begin > made.end && $0.end < used.begin })
      }

      @Test func `a body is copied to the disk, and so is the name of the copy, before its request is stored`()
        async throws
      {
        server.serve("/a.bin", .file(Content(10_000)))
        try Data(count: 100_000).write(to: URL(filePath: folder.path("body")))
        let trace = try await trace(of: ["send", "POST", server.url("/a.bin"), "-d", "@\(folder.path("body"))"])
        let outbox = stores.path("jobs.sqlite-outbox")
        let renamed = ["rename", "renameat", "renameat2"].flatMap { trace.calls($0) }
        let named = try #require(renamed.first { $0.arguments.contains("\"\(outbox)/") })
        let draft = try #require(named.arguments.firstMatch(of: #/"([^"]+)"/#).map { String($0.1) })
        #expect(trace.flushed(draft, before: named) == 100_000)
        let kept = try #require(trace.calls("fsync", on: outbox).first { $0.begin > named.end })
        let stored = try #require(
          trace.calls("pwrite64", on: stores.path("jobs.sqlite-wal")).first { $0.begin > named.end })
        #expect(kept.end < stored.begin)
      }

      /// Runs the command in a process of its own, and returns what that asked for.
      private func trace(of words: [String]) async throws -> Trace {
        var environment = ProcessInfo.processInfo.environment
        environment["DURABLE_STORE"] = stores.path("jobs.sqlite")
        let traced = stores.path("trace")
        let process = try ChildProcess(
          try #require(Trace.program), Trace.options + ["-o", traced, URL.built("durable").path] + words,
          environment: environment)
        await process.ended()
        #expect(process.wait() == .exited(0))
        return try Trace(of: traced)
      }
    #endif
  }

  /// System calls of a process, as strace tells of them.
  struct Trace {
    struct Call {
      var name: String
      /// As strace writes them, descriptors with their path.
      var arguments: String
      var result: Int64 = 0
      /// Lines, of all threads: one that ends before another begins came before.
      var begin: Int
      var end: Int

      /// Of the first descriptor.
      var path: String? { arguments.firstMatch(of: #/^\d+<([^>]*)>/#).map { String($0.1) } }
      /// Up to where a write at an offset came.
      fileprivate var reached: Int64 {
        (arguments.split(separator: " ").last.flatMap { Int64($0) } ?? 0) + result
      }
    }

    static let program = ["/usr/bin/strace", "/usr/local/bin/strace"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    static let options = [
      "-f", "-y", "-s", "64", "-e",
      "trace=openat,pwrite64,write,fsync,fdatasync,ftruncate,linkat,unlinkat,?mkdir,mkdirat,?rename,?renameat,?renameat2,fsetxattr,newfstatat",
    ]

    static let isPossible: Bool = {
      guard let program else { return false }
      let nowhere = FileHandle.nullDevice.fileDescriptor
      return (try? ChildProcess(program, ["-o", "/dev/null", "true"], error: nowhere))?.wait() == .exited(0)
    }()

    let calls: [Call]

    init(of path: String) throws {
      var calls: [Call] = []
      var pending: [Substring: Call] = [:]
      let text = try String(contentsOfFile: path, encoding: .utf8)
      for (number, line) in text.split(separator: "\n").enumerated() {
        if let whole = line.wholeMatch(of: #/(\d+) +(\w+)\((.*)\) += (-?\d+).*/#) {
          calls.append(
            Call(
              name: String(whole.2), arguments: String(whole.3), result: Int64(whole.4) ?? -1, begin: number,
              end: number))
        } else if let begun = line.wholeMatch(of: #/(\d+) +(\w+)\((.*) <unfinished \.\.\.>/#) {
          pending[begun.1] = Call(name: String(begun.2), arguments: String(begun.3), begin: number, end: number)
        } else if let ended = line.wholeMatch(of: #/(\d+) +<\.\.\. \w+ resumed>(.*)\) += (-?\d+).*/#),
          var call = pending.removeValue(forKey: ended.1)
        {
          call.arguments += ended.2
          call.result = Int64(ended.3) ?? -1
          call.end = number
          calls.append(call)
        }
      }
      self.calls = calls
    }

    func calls(_ name: String, on path: String? = nil) -> [Call] {
      calls.filter { $0.name == name && (path == nil || $0.path == path) }
    }

    /// How much of a file was on the disk for sure when a call began.
    func flushed(_ path: String, before call: Call) -> Int64 {
      let flushes = (calls("fsync", on: path) + calls("fdatasync", on: path)).filter {
        $0.end < call.begin && $0.result == 0
      }
      let writes = calls("pwrite64", on: path)
      return flushes.map { flush in writes.filter { $0.end < flush.begin }.map(\.reached).max() ?? 0 }.max() ?? 0
    }
  }
#endif
