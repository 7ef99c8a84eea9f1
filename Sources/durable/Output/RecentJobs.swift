#if Shell
  import DurableJobs

  /// What is remembered of jobs, some of which may have ended elsewhere. Where there are too many, all is forgotten: each is
  /// told of once more.
  struct RecentJobs<Value: Sendable>: Sendable {
    static var most: Int { 10_000 }
    private var values: [JobID: Value] = [:]

    subscript(id: JobID) -> Value? {
      get { values[id] }
      set {
        if newValue != nil, values[id] == nil, values.count >= Self.most { values = [:] }
        values[id] = newValue
      }
    }

    mutating func remove(_ id: JobID) -> Value? {
      defer { values[id] = nil }
      return values[id]
    }
  }
#endif
