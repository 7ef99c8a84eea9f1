#if HTTP
  import DurableJobs
  import Foundation

  /// Which downloads brought files under names that servers gave them, and when: one that was asked for before does not
  /// replace them. What other processes brought is read from the store, once.
  final class ServerNamedFiles: Sendable {
    private struct State {
      var files: [String: (identity: String, at: Date)] = [:]
      var isRead = false
      /// With so many, those that nobody asks for any more are looked for.
      var many = 1000
    }

    private let store: any JobStore
    private let state = Lock(State())

    init(_ store: any JobStore) { self.store = store }

    /// It came, at that time, and nothing if it has the name that was expected.
    func add(_ file: DownloadedFile, of download: Download, at time: Date) async {
      guard !file.wasThere, !(file.path as NSString).lastPathComponent.utf8.elementsEqual(download.expectedName.utf8)
      else { return }
      let isMany = state.withLock { state in
        if state.files[file.path].map({ $0.at <= time }) ?? true { state.files[file.path] = (download.identity, time) }
        return state.files.count > state.many
      }
      if isMany { try? await forget() }
    }

    /// Whether another download than that brought the file at that path after `job` was asked for.
    func came(to path: String, since job: JobID, besides download: Download) async throws -> Bool {
      if !state.withLock({ $0.isRead }) { try await read() }
      guard let came = state.withLock({ $0.files[path] }), came.identity != download.identity,
        let job = try await store.jobs(JobQuery(.id(job), limit: 1)).first
      else { return false }
      return job.createdAt <= came.at
    }

    private func read() async throws {
      var query = JobQuery(.kind(Download.self) && .state(.succeeded), detail: [.payload, .output], limit: 1000)
      while true {
        let jobs = try await store.jobs(query)
        let decoder = JSONDecoder()
        for job in jobs {
          guard let download = job.payload.flatMap({ try? decoder.decode(Download.self, from: $0) }),
            let file = job.output.flatMap({ try? decoder.decode(DownloadedFile.self, from: $0) })
          else { continue }
          await add(file, of: download, at: job.finishedAt ?? job.createdAt)
        }
        guard let last = jobs.last, jobs.count == query.limit else { break }
        query.after = last.id
      }
      state.withLock { $0.isRead = true }
    }

    /// What came before all that is unfinished was asked for stands in nobody's way.
    private func forget() async throws {
      let unfinished = JobState.allCases.filter { !$0.isFinished }.map { JobFilter.state($0) }.reduce(!.all, ||)
      let oldest = try await store.jobs(JobQuery(.kind(Download.self) && unfinished, limit: 1)).first?.createdAt
      state.withLock { state in
        state.files = state.files.filter { oldest ?? .distantFuture <= $0.value.at }
        state.many = max(1000, 2 * state.files.count)
      }
    }
  }
#endif
