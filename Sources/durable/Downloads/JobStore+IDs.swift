#if Shell
  import DurableJobs

  extension JobStore {
    /// The jobs with these ids that are in the store, read so many with each call that SQLite bears the filter.
    func jobs(_ ids: [JobID], detail: JobQuery.Detail) async throws -> [JobID: JobSnapshot] {
      var found: [JobID: JobSnapshot] = [:]
      for page in ids.pages(of: DownloadIntake.page) {
        let jobs = try await self.jobs(JobQuery(.ids(page), detail: detail, limit: page.count))
        for job in jobs { found[job.id] = job }
      }
      return found
    }
  }

  extension JobFilter {
    /// One of these, which must be some.
    static func ids(_ ids: some RandomAccessCollection<JobID>) -> JobFilter { any(of: ids.map { .id($0) }) }

    /// Jobs that have not ended.
    static let unfinished = any(of: JobState.allCases.filter { !$0.isFinished }.map { .state($0) })

    /// As flat as may be: filters are walked through by recursion.
    private static func any(of filters: [JobFilter]) -> JobFilter {
      guard filters.count > 1 else { return filters[0] }
      let half = filters.count / 2
      return any(of: Array(filters[..<half])) || any(of: Array(filters[half...]))
    }
  }

  extension Array {
    /// All of it in order, at most so many in one piece.
    func pages(of count: Int) -> [ArraySlice<Element>] {
      stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
  }
#endif
