#if Examples
  import DurableJobs
  import DurableJobsSQLite
  import Foundation
  import TestProcesses
  import Testing

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The example of docs/servers.md, as a process.
  private struct Server {
    let process: ChildProcess
    let port: Int

    /// Returns when it takes requests.
    init(in folder: URL) async throws {
      let pipe = Pipe()
      process = try ChildProcess(
        URL.built("mail-server").path, [folder.path, "0"], output: pipe.fileHandleForWriting.fileDescriptor)
      try pipe.fileHandleForWriting.close()
      let output = pipe.fileHandleForReading
      let line = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          var text = Data()
          while text.last != UInt8(ascii: "\n"), case let more = output.availableData, !more.isEmpty { text += more }
          continuation.resume(returning: String(decoding: text.dropLast(), as: UTF8.self))
        }
      }
      port = try #require(Int(line.split(separator: " ").last ?? ""))
    }

    func request(_ method: String, _ path: String, _ body: String = "", key: String? = nil) async throws -> (
      HTTPURLResponse, Data
    ) {
      var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
      request.httpMethod = method
      if method == "POST" { request.httpBody = Data(body.utf8) }
      request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
      let (data, response) = try await URLSession.shared.data(for: request)
      return (try #require(response as? HTTPURLResponse), data)
    }
  }

  @Suite struct ServerTests {
    @Test func `What the example server said 202 to is done, also after kill -9, and SIGTERM ends it in order`()
      async throws
    {
      let folder = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }

      var server = try await Server(in: folder)
      let mails = JobQueue("mails", store: try SQLiteStore(path: folder.appending(path: "jobs.sqlite").path))
      func sent() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sent") }.count
      }
      var places: [String] = []
      for number in 0..<20 {
        // From here on nothing is begun.
        if number == 10 { try await mails.pause() }
        let (answer, _) = try await server.request("POST", "/mails", "mail \(number)", key: "\(number)")
        #expect(answer.statusCode == 202)
        places.append(try #require(answer.value(forHTTPHeaderField: "Location")))
      }
      server.process.send(SIGKILL)
      await server.process.ended()
      #expect(try sent() <= 10)

      try await mails.unpause()
      await mails.store.close()
      server = try await Server(in: folder)
      let (again, _) = try await server.request("POST", "/mails", "mail 7", key: "7")
      #expect(again.value(forHTTPHeaderField: "Location") == places[7])
      for place in places {
        var state = ""
        repeat {
          let (answer, data) = try await server.request("GET", place)
          #expect(answer.statusCode == 200)
          state = try #require((try JSONSerialization.jsonObject(with: data) as? [String: Any])?["state"] as? String)
        } while !["succeeded", "failed"].contains(state)
        #expect(state == "succeeded")
      }
      #expect(try sent() == 20)
      #expect(try await server.request("GET", "/jobs/9999").0.statusCode == 404)
      server.process.send(SIGTERM)
      #expect(await server.process.ended() == .exited(0))
    }
  }
#endif
