#if Postgres
  import DurableJobs

  /// How many pending insertions are stored together: what is sent at once is limited at the server, and in memory.
  struct GroupRoom {
    private var jobs = 2000
    private var bytes = 16 << 20
    private var isEmpty = true

    /// The first has room in any case.
    mutating func takes(_ insertion: JobInsertion) -> Bool {
      let size = insertion.jobs.reduce(0) { $0 + $1.payload.count }
      guard isEmpty || insertion.jobs.count <= jobs && size <= bytes else { return false }
      (jobs, bytes, isEmpty) = (jobs - insertion.jobs.count, bytes - size, false)
      return true
    }
  }
#endif
