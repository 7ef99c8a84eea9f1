#if HTTP
  import DurableJobs
  import Foundation

  /// What downloads brought under names that servers gave them: one that was asked for before does not replace it. No job
  /// can be looked up by such a name, so all are read; but only for a file that was not there before the download was
  /// asked for, by the file's own time.
  struct ServerNamedFiles: Sendable {
    let store: any JobStore

    /// Whether another download than that brought the file at that path after `job` was asked for.
    func came(to path: String, _ file: FileStatus, since job: JobID, besides download: Download) async throws -> Bool {
      guard let job = try await store.jobs(JobQuery(.id(job), limit: 1)).first,
        file.mayBeYounger(than: .seconds(store.clock.now.timeIntervalSince(job.createdAt)), now: Date())
      else { return false }
      var query = JobQuery(
        .kind(Download.self) && .state(.succeeded), detail: [.payload, .output], order: .newestFirst, limit: 1000)
      while true {
        let others = try await store.jobs(query)
        if others.contains(where: {
          $0.key != download.identity && $0.finishedAt ?? .distantPast >= job.createdAt && Self.brought(path, by: $0)
        }) {
          return true
        }
        guard others.count == query.limit else { return false }
        query.after = others.last?.id
      }
    }

    private static func brought(_ path: String, by job: JobSnapshot) -> Bool {
      guard let output = job.output, let file = try? JSONDecoder().decode(DownloadedFile.self, from: output),
        file.path == path, !file.wasThere, let download = Download(of: job)
      else { return false }
      return !(path as NSString).lastPathComponent.utf8.elementsEqual(download.expectedName.utf8)
    }
  }

  extension FileStatus {
    /// File systems have clocks of their own, and some tell no more than seconds.
    static let clockDifference = Duration.seconds(60)

    /// Whether it may have got its name or its bytes within that time.
    func mayBeYounger(than age: Duration, now: Date) -> Bool {
      let latest = Double(max(modified, changed)) / 1e9
      return now.timeIntervalSince1970 - latest <= (age + Self.clockDifference).seconds
    }
  }
#endif
