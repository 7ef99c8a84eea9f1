#if Postgres
  import DurableJobs
  import Foundation
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct GroupRoomTests {
    private func insertion(of count: Int, bytes: Int) -> JobInsertion {
      JobInsertion((0..<count).map { _ in NewJob(queue: "q", kind: "k", payload: Data(count: bytes)) })
    }

    @Test("Small calls are stored together, up to two thousand jobs")
    func jobs() {
      var room = GroupRoom()
      let taken = [1999, 2, 1].map { room.takes(insertion(of: $0, bytes: 1)) }
      #expect(taken == [true, false, true])
    }

    @Test("Of large ones as many as can be sent at once, and any one alone")
    func bytes() {
      var room = GroupRoom()
      let large = insertion(of: 1, bytes: 5 << 20)
      let taken = (0..<10).count { _ in room.takes(large) }
      #expect(taken == 3)
      var other = GroupRoom()
      let whole = other.takes(insertion(of: 4, bytes: 5 << 20))
      let more = other.takes(insertion(of: 1, bytes: 1))
      #expect(whole && !more)
    }
  }
#endif
