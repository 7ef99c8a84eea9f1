import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

private struct Unreadable: Error {}

private enum Refusal: CodedError {
  case quota
  var failureCode: String { "quota" }
}

/// What a program goes by once a job has failed.
@Suite struct FailureCodeTests {
  private struct Fail: Job {
    static let kind = "fail"
    static let options = JobOptions(maxAttempts: 1)
    var way: String

    func run(in context: JobContext) async throws -> Int {
      switch way {
      case "coded": throw Refusal.quota
      case "permanent": throw .permanent(Refusal.quota)
      case "foundation": throw NSError(domain: "net.example", code: 7)
      default: break
      }
      throw Unreadable()
    }
  }

  @Test(
    "A job's failure is matched by its code: what its error says, else the name of the error's type",
    arguments: [
      ("coded", "quota"), ("permanent", "quota"), ("foundation", "net.example.7"), ("plain", "Unreadable"),
    ])
  func code(way: String, code: String) async throws {
    let jobs = TestJobs()
    jobs.worker.register(Fail.self)
    let handle = try await jobs.queue.enqueue(Fail(way: way))
    try await jobs.drain()
    #expect(try await handle.snapshot.failures.map(\.code) == [code])
    await #expect { _ = try await handle.value } throws: { ($0 as? JobFailure)?.code == code }
  }

  @Test func `A callback from outside keeps its error's code, too, and a stored failure of before has none`()
    async throws
  {
    let jobs = TestJobs()
    let handle = try await jobs.queue.enqueue(Fail(way: "plain"))
    try await handle.fail(Refusal.quota)
    #expect(try await handle.snapshot.failures.map(\.code) == ["quota"])
    let old = Data(#"{"attempt":1,"at":0,"message":"m"}"#.utf8)
    #expect(try JSONDecoder().decode(AttemptFailure.self, from: old).code == nil)
  }
}
