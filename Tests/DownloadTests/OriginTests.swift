#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import Testing

  /// A file that came is known again by the word of its server where the store knows nothing of it: after `prune`, the next
  /// day, in another store.
  @Suite struct OriginTests {
    let server: LyingServer
    let folder: TestFolder

    init() async throws {
      server = try await LyingServer()
      folder = try TestFolder()
    }

    /// By a store that knows nothing of what was fetched before.
    private func fetch(_ path: String = "/a.bin", headers: [Download.Header] = []) async throws -> JobSnapshot {
      let setting = try Setting(in: folder)
      return try await setting.fetch(setting.download(server.url(path), headers: headers))
    }

    @Test(arguments: [1, 1000, 1_000_000], [LyingAnswer.etag, nil])
    func `a file that the server still has is there, and costs a byte`(size: Int64, tag: String?) async throws {
      let file = Content(size)
      server.serve("/a.bin", .file(file, etag: tag))
      #expect(try await fetch().file?.wasThere == false)
      let again = try await fetch()
      #expect(again.file?.wasThere == true, "\(again.lastError)")
      #expect(server.requests.map(\.rangeStart) == [nil, size > 1 ? size - 1 : nil])
      #expect(try folder.holds(file, as: "a.bin"))
      #expect(folder.names == ["a.bin"])
    }

    @Test func `a file is known by its tag, though its server does not tell how long it is`() async throws {
      server.serve("/a.bin", .file(content).framed(.chunked))
      #expect(try await fetch().file?.wasThere == false)
      let again = try await fetch()
      #expect(again.file?.wasThere == true, "\(again.lastError)")
      #expect(try folder.holds(content, as: "a.bin"))
    }

    @Test func `a file that may have been cut is known to nobody by its tag`() async throws {
      server.serve("/a.bin", .file(content).framed(.close).cut(after: 600_000), .file(content).framed(.chunked))
      let setting = try Setting(in: folder)
      let taken = try await setting.fetch(setting.download(server.url("/a.bin"), acceptsUnknownLength: true))
      #expect(taken.state == .succeeded)
      #expect(folder.size("a.bin") == 600_000)
      let again = try await fetch()
      #expect(again.lastError.contains("is there already"), "\(again)")
    }

    @Test func `a file that is noted to be another URL's is not taken by its size and date`() async throws {
      server.serve("/one/a.bin", .file(content))
      server.serve("/two/a.bin", .file(changed, etag: "\"second\""))
      for (path, came) in [("/one/a.bin", true), ("/two/a.bin", false)] {
        let setting = try Setting(in: folder)
        let job = try await setting.fetch(setting.download(server.url(path), keepsServerTime: true))
        #expect((job.state == .succeeded) == came, "\(job.lastError)")
      }
      #expect(try folder.holds(content, as: "a.bin"))
    }

    @Test func `under the name that its server gives, it is known too`() async throws {
      server.serve("/a.bin", .file(content).with("Content-Disposition", "attachment; filename=b.bin"))
      #expect(try await fetch().file?.wasThere == false)
      let again = try await fetch()
      #expect(again.file?.wasThere == true, "\(again.lastError)")
      #expect(folder.names == ["b.bin"])
    }

    @Test(arguments: [
      LyingAnswer.file(changed, etag: "\"second\""), .file(content, etag: "W/\"first\""), .file(changed, etag: nil),
      .file(Content(999_999)), .file(content, etag: nil, lastModified: nil),
    ])
    func `where the server has another version by now, or does not say, the file stays and is none`(
      answer: LyingAnswer
    ) async throws {
      server.serve("/a.bin", .file(content), answer)
      #expect(try await fetch().file?.wasThere == false)
      let again = try await fetch()
      #expect(again.state == .failed)
      #expect(again.lastError.contains("is there already"), "\(again.lastError)")
      #expect(try folder.holds(content, as: "a.bin"))
    }

    @Test func `a file that was changed since is none, and neither is another of its name`() async throws {
      server.serve("/a.bin", .file(content))
      #expect(try await fetch().file?.wasThere == false)
      let time = Date(timeIntervalSince1970: 1_700_000_000)
      try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: folder.path("a.bin"))
      #expect(try await fetch().state == .failed)
      try folder.write("precious", to: "a.bin")
      #expect(try await fetch().state == .failed)
      #expect(try folder.text("a.bin") == "precious")
    }

    @Test func `what came of another URL is none, though both name their versions alike`() async throws {
      server.serve("/a.bin", .file(content))
      server.serve("/other/a.bin", .file(changed))
      #expect(try await fetch().file?.wasThere == false)
      #expect(try await fetch("/other/a.bin").state == .failed)
      server.serve("/a.bin", .redirect(to: "/other/a.bin"))
      #expect(try await fetch().state == .failed, "it leads to another file now")
      #expect(try folder.holds(content, as: "a.bin"))
    }

    @Test func `what came with headers is none by its date, which may be that of another user's file`() async throws {
      server.serve("/a.bin", .file(content, etag: nil))
      let headers = [Download.Header("Cookie", "user=alice")]
      #expect(try await fetch(headers: headers).file?.wasThere == false)
      for headers in [headers, []] { #expect(try await fetch(headers: headers).state == .failed) }
    }

    @Test(arguments: ["", "kim:word@127.0.0.1"])
    func `a strong tag names one file, whoever asks`(login: String) async throws {
      server.serve("/a.bin", .file(content))
      let setting = { try Setting(in: folder) }
      let url = login.isEmpty ? server.url("/a.bin") : server.url("/a.bin", by: login)
      for (token, wasThere) in [("first", false), ("second", true)] {
        let setting = try setting()
        let download = try setting.download(url, headers: [.init("Authorization", "Bearer \(token)")])
        #expect(try await setting.fetch(download).file?.wasThere == wasThere)
      }
      #expect(server.bytesSent == content.size + 1)
    }
  }
#endif
