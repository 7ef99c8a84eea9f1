#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct EncryptedConnectionTests {
    /// A key and a certificate for the host `db.test`, which is its own authority.
    private final class Certificate {
      private let folder = "/tmp/durable-certificate-\(UUID())"
      var path: String { folder + "/server.crt" }
      var key: String { folder + "/server.key" }

      init() throws {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let words =
          "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=db.test"
          + " -addext subjectAltName=DNS:db.test -keyout \(key) -out \(path)"
        let made = try ChildProcess("/usr/bin/env", words.split(separator: " ").map(String.init)).wait()
        try #require(made == .exited(0), "openssl")
        // The server reads a key only of its own.
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        if geteuid() == 0 {
          try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: key)
        }
      }

      deinit { try? FileManager.default.removeItem(atPath: folder) }

      var options: String {
        "-c listen_addresses=0.0.0.0 -c ssl=on -c ssl_cert_file=\(path) -c ssl_key_file=\(key)"
      }
    }

    @Test(
      "Jobs run over TLS, every connection is encrypted, and a server that can't prove its name is refused with what to check",
      .enabled(if: TestNetwork.isPossible, "needs Linux, iproute2, and the right to make networks"))
    func encrypted() async throws {
      let (certificate, stranger) = (try Certificate(), try Certificate())
      let server = try TestServer(options: certificate.options, isApart: true)
      let network = try TestNetwork(to: server)
      let schema = TestServer.schema()
      func way(_ host: String, root: String) -> String {
        "host=\(host) hostaddr=\(network.address) sslmode=verify-full sslrootcert=\(root)"
      }
      for (host, root) in [("db.test", stranger.path), ("other.test", certificate.path)] {
        let error = await #expect(throws: JobError.self) { try await server.store(schema, way(host, root: root)) }
        #expect(error?.code == .unusableFile)
        let words = try #require(error).message
        #expect(words.contains("certificate") && words.contains("sslrootcert"), "\(words)")
      }
      let store = try await server.store(schema, way("db.test", root: certificate.path))
      let queue = JobQueue(store: store)
      let worker = JobWorker(queue)
      worker.register(kind: "work") { job, _ in job.payload }
      // More than one packet of TLS, there and back.
      let long = Data("\"\(String(repeating: "x", count: 300_000))\"".utf8)
      let ids = try await store.insert(
        JobInsertion((0..<20).map { _ in NewJob(queue: "default", kind: "work", payload: long) })
      ).ids
      worker.start()
      #expect(try await queue.waitUntilFinished()[.succeeded] == ids.count)
      let sessions = try server.psql(
        """
        SELECT s.ssl,count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING(pid)
        WHERE a.client_addr IS NOT NULL GROUP BY s.ssl
        """)
      #expect(sessions.map(\.[0]) == ["t"] && Int(sessions[0][1])! >= 2, "\(sessions)")
      let outputs = try await store.jobs(JobQuery(.ids(Set(ids)), detail: .output, limit: 20)).map(\.output)
      #expect(outputs == ids.map { _ in long })
      await worker.stop()
      await store.close()
      try WholeStore.expect(of: server, schema: schema)
    }

    @Test("An answer in longer records than libpq reads at once is read to its end, behind an encrypted pooler")
    func longRecords() async throws {
      let certificate = try Certificate()
      let pooler = try TestPooler(
        before: TestServer.shared.get(), encryptedWith: (certificate.path, certificate.key))
      let store = try await TestServer.shared.get().store(TestServer.schema(), pooler.way) { $0.isPooled = true }
      let outputs = (0..<60).map { Data("\"\(String(repeating: "x", count: 5000 + $0 * 37))\"".utf8) }
      let ids = try await store.insert(JobInsertion(outputs.map { _ in .plain() })).ids
      let jobs = try await store.claim(.of(60)).jobs
      let results = zip(jobs, outputs).map { $0.settled(.succeeded(output: $1)) }
      _ = try await store.settle(results, thenClaim: nil)
      for count in 1...ids.count {
        let read = try await store.jobs(JobQuery(.ids(Set(ids.prefix(count))), detail: .output, limit: count))
        #expect(read.map(\.output) == outputs.prefix(count).map { $0 })
      }
      await store.close()
    }
  }
#endif
