#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import TestProcesses
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct CallLineTests {
    private let failed = Lock<[Int]>([])

    private func request(
      _ sort: Request.Sort, _ number: Int = 0, until deadline: Duration = .seconds(30)
    ) -> Request {
      let jobs = sort == .insertion ? JobInsertion([.plain()]) : nil
      return Request(sort: sort, deadline: deadline, insertion: jobs) { _ in
      } fail: { [failed] _ in
        failed.withLock { $0.append(number) }
      }
    }

    private func line(of connections: Int, _ sorts: [Request.Sort]) -> CallLine {
      var line = CallLine(connections: connections)
      for sort in sorts { _ = line.add(request(sort)) }
      return line
    }

    @Test("A worker's call goes first, whoever came before, and its lease before other workers' calls")
    func worker() {
      var line = line(of: 4, [.call, .lent, .worker, .call, .renewal])
      let taken = (0..<5).map { _ in line.take().map(\.sort) }
      #expect(taken == [[.renewal], [.worker], [.call], [.lent], [.call]])
    }

    @Test("The last connection is a worker's where there is one, and a program's transaction never has it")
    func last() {
      var busy = line(of: 3, [.worker, .call, .call, .call])
      let taken = (0..<4).map { _ in busy.take().map(\.sort) }
      #expect(taken == [[.worker], [.call], [.call], []])
      _ = busy.add(request(.worker))
      #expect(busy.take().map(\.sort) == [.worker])
      busy.ended([request(.worker)])
      #expect(busy.next == nil)
      busy.ended([request(.call)])
      #expect(busy.take().map(\.sort) == [.call])
      var alone = line(of: 3, [.lent, .lent, .lent, .call])
      #expect((0..<4).map { _ in alone.take().map(\.sort) } == [[.lent], [.lent], [.call], []])
      var only = line(of: 1, [.worker, .lent, .call])
      #expect((0..<2).map { _ in only.take().map(\.sort) } == [[.worker], [.lent]])
    }

    @Test("New jobs that wait are taken together")
    func group() {
      var line = line(of: 2, [.insertion, .call, .insertion, .insertion])
      let taken = (0..<2).map { _ in line.take().count }
      #expect(taken == [3, 1])
    }

    @Test("Each leaves when its time is over, and others keep their order")
    func expiry() {
      var line = CallLine(connections: 1)
      for number in 0..<200 {
        _ = line.add(request(.call, number, until: .seconds(number % 2 == 0 ? 10 : 20)))
      }
      for _ in 0..<10 {
        let group = line.take()
        line.ended(group)
      }
      #expect(line.nextDeadline == .seconds(10))
      let expired = line.expire(at: .seconds(10))
      #expect(expired.count == 95 && line.nextDeadline == .seconds(20))
      for request in expired + line.take() { request.fail(JobError(.storeFailed, "")) }
      #expect(failed.withLock { $0 } == Array(stride(from: 10, to: 200, by: 2)) + [11])
    }

    @Test("A worker's read is given up in its own time, also behind a call that may take longer")
    func shortRead() {
      var line = CallLine(connections: 1)
      _ = line.add(request(.worker, 1, until: .seconds(30)))
      _ = line.add(request(.worker, 2, until: .seconds(10)))
      #expect(line.nextDeadline == .seconds(10))
      #expect(line.expire(at: .seconds(10)).count == 1 && line.nextDeadline == .seconds(30))
    }

    @Test("A worker renews its lease while a program's transactions have all connections but one, and others wait")
    func renewal() async throws {
      let server = try TestServer.shared.get()
      let store = try await server.store { $0.callLimit = .seconds(600) }
      _ = try await store.insert(JobInsertion([.plain()]))
      let claimed = try await store.claim(.of(1)).jobs
      let (held, mayEnd) = (Lock(0), DispatchSemaphore(value: 0))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await store.transaction { _ in
              held.withLock { $0 += 1 }
              mayEnd.wait()
            }
          }
        }
        await until { held.withLock(\.self) == 1 }
        let request = RenewalRequest(worker: WorkerID("w"), renewals: claimed.map { ClaimRenewal(token: $0.token) })
        let standings = try await store.renew(request)
        #expect(standings == [.held])
        for _ in 0..<4 { mayEnd.signal() }
        try await group.waitForAll()
      }
      #expect(held.withLock(\.self) == 4)
      await store.close()
    }

    @Test("What a worker's loop reads is given up long before its lease lapses, and others' reads are not")
    func reads() async throws {
      let server = try TestServer.shared.get()
      let (database, schema) = (try server.database(), TestServer.schema())
      let store = try await server.store(schema, "dbname=\(database)") {
        ($0.callLimit, $0.lockPatience) = (.seconds(600), .milliseconds(50))
      }
      let other = try await server.holding("LOCK TABLE \"\(schema)\".tally", database: database) {
        let other = Task { try await store.counts(where: .all) }
        let error = await #expect(throws: JobError.self) {
          try await WorkerLoop.$isWaiting.withValue(true) { try await store.counts(where: .all) }
        }
        #expect(error?.code == .storeFailed, "\(error as Any)")
        return other
      }
      #expect(try await other.value == JobCounts())
      await store.close()
    }
  }
#endif
