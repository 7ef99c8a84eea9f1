import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct ForkTests {
  @Test("A forked child that goes on is refused the store, and its end takes nothing from its parent")
  func child() async throws {
    let folder = try StoreFolder()
    let probe = try ProcessProbe("fork", folder.path())
    #expect(try await probe.hear("child")[0] == "\(JobError.Code.closed)")
    #if !canImport(Darwin)
      #expect(try await probe.hear("child")[0] == "\(JobError.Code.closed)")
    #endif
    #expect(try await probe.hear("ended")[0] == "0")
    #expect(try await probe.hear("session")[0] == "true")
    #expect(try await probe.hear("stored")[0] == "2")
  }
}
