#if Shell
  import Console
  import DurableJobs

  /// Of what is stored and could not be told where data goes: or who asked for it would ask again.
  enum StoredAllTheSame {
    /// Says so of jobs, if standard output could not be written.
    static func tell(_ ids: [JobID]) {
      let (first, rest) = (
        ids.prefix(Self.mostTold).map(\.description).joined(separator: ", "), ids.count - Self.mostTold
      )
      let more = rest > 0 ? " and \(rest) more" : ""
      tell(
        ids.count == 1
          ? "job \(first) is stored; its number could not be written"
          : "jobs \(first)\(more) are stored; their numbers could not be written")
    }

    static func tell(_ words: String) { if Screen.hasLostOutput { Talk.error(words) } }

    private static let mostTold = 10
  }
#endif
