#if Shell
  import DurableJobs

  extension JobStore {
    /// The jobs with these ids that are in the store, a page with each call.
    func jobs(_ ids: [JobID], detail: JobQuery.Detail) async throws -> [JobID: JobSnapshot] {
      var found: [JobID: JobSnapshot] = [:]
      for page in ids.pages(of: DownloadIntake.page) {
        let jobs = try await self.jobs(JobQuery(.ids(page), detail: detail, limit: page.count))
        for job in jobs { found[job.id] = job }
      }
      return found
    }
  }
#endif
