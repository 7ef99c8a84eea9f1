#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import Testing

  @testable import durable_demo

  @Suite("What the download screen says at its end") struct DemoAccountTests {
    let durable: Durable
    let files = DemoFiles(count: 4, size: 1000)
    let downloads: [Download]
    let jobs: [JobSnapshot]

    /// Four downloads that succeeded, and whose files are right.
    init() throws {
      let durable = try Durable()
      self.durable = durable
      let files = files
      let folder = URL(filePath: durable.folder)
      downloads = try files.numbers.map {
        Download(
          from: try #require(URL(string: "http://127.0.0.1/\($0)")), to: folder, named: DemoFiles.name($0),
          sha256: files.sha256(of: $0))
      }
      jobs = files.numbers.map {
        JobSnapshot(
          id: JobID(rawValue: Int64($0)), queue: "default", kind: "download", state: .succeeded, createdAt: .now)
      }
      for number in files.numbers {
        let bytes = Data(files.bytes(of: number, in: 0..<files.size))
        try bytes.write(to: folder.appending(path: DemoFiles.name(number)))
      }
    }

    private func account(
      _ jobs: [JobSnapshot], served: Int = 4000, killed: Bool = true
    ) -> DownloadOutcome {
      let ledger = ServingLedger(total: files.totalSize)
      let begin = ContinuousClock.now
      ledger.sent(2500, to: 1, now: begin)
      ledger.killed(now: begin)
      ledger.nextWorker()
      ledger.sent(served - 2500, to: 2, now: begin + .milliseconds(400))
      return DownloadRun.account(
        files, downloads, jobs, ledger, killed ? DownloadRun.Kill(process: 7, fraction: 0.625) : nil)
    }

    @Test("bytes that came twice are counted, and how long none came")
    func crash() {
      let outcome = account(jobs, served: 4321)
      #expect(outcome.isRight)
      #expect(outcome.crash == .init(killed: 7, fraction: 0.625, bytesTwice: 321, gap: .milliseconds(400)))
      #expect(account(jobs).crash?.bytesTwice == 0)
      #expect(!account(jobs, killed: false).isRight)
    }

    @Test("a file with one wrong byte, one that is gone and one that failed are not verified")
    func wrong() throws {
      var bytes = files.bytes(of: 1, in: 0..<files.size)
      bytes[999] ^= 1
      try Data(bytes).write(to: URL(filePath: durable.folder + "/file-001"))
      try FileManager.default.removeItem(atPath: durable.folder + "/file-002")
      var jobs = jobs
      jobs[2].state = .failed
      jobs[2].failures = [AttemptFailure(attempt: 1, at: .now, message: "no answer")]
      let outcome = account(jobs)
      #expect(!outcome.isRight)
      #expect(outcome.verified == 1)
      #expect(
        outcome.troubles == [
          "file-001 has a wrong checksum", "file-002 is not there", "file-003 is failed: no answer",
        ])
    }
  }
#endif
