#if Postgres
  import DurableJobs

  /// Where ready jobs are looked for. While a transaction stays open anywhere in the database, the server keeps an
  /// entry of each job that was in a route's line, and a search from the line's start passes over all that were done
  /// meanwhile. If that costs much, a claim starts behind those that are known to be gone.
  ///
  /// A job that is placed before that, such as an old one that is tried again, is found by the next claim that searches
  /// from the start. One does after ``pause(after:)``: such a job may be passed over that long, and no longer.
  final class LineStarts: Sendable {
    /// A part of a route's line, in the order of ranks and ids.
    struct Stretch {
      let route: Int64
      /// It begins behind this one.
      let rank: Int64
      let id: Int64
      /// The last rank that it contains.
      let top: Int64
    }

    /// What a claim saw in a line.
    struct Sight {
      let rank: Int64
      /// The first job of that rank.
      let first: Int64
    }

    private struct Line {
      /// By rank, the id behind which it begins.
      var starts: [Int64: Int64]
      /// When it is next searched from its start, by the store's time.
      let wholeAt: Int64
    }

    private let lines = Lock<[Int64: Line]>([:])

    /// How many entries of jobs that are gone may be passed over.
    static let bearable: Int64 = 1000
    /// Of the ids given out last, some belong to jobs that are still being stored.
    static let inFlight: Int64 = 500
    private static let mostRanks = 16

    /// In milliseconds. Passing 10,000 entries takes one or two, and five on a busy machine: so about a hundredth of the
    /// time is spent on that, also by a worker that claims few at a time.
    static func pause(after passed: Int64) -> Int64 { min(max(passed / 25, 50), longest) }
    private static let longest: Int64 = 5000

    /// How soon that time is; nil if it has come. A clock that was set back also makes it due.
    static func rest(until time: Int64, now: Int64) -> Int64? { 1...longest ~= time - now ? time - now : nil }

    /// In order. A line known only in part has several, and is searched whole again in `wholeIn` milliseconds.
    func stretches(of route: Int64, now: Int64) -> (all: [Stretch], wholeIn: Int64?) {
      let line = lines.withLock { $0[route] }
      guard let line, let rest = Self.rest(until: line.wholeAt, now: now) else {
        return ([Stretch(route: route, rank: .min, id: .min, top: .max)], nil)
      }
      var all: [Stretch] = []
      var (rank, id) = (Int64.min, Int64.min)
      for start in line.starts.sorted(by: { $0.key < $1.key }) {
        if start.key > .min { all.append(Stretch(route: route, rank: rank, id: id, top: start.key - 1)) }
        (rank, id) = (start.key, start.value)
      }
      return (all + [Stretch(route: route, rank: rank, id: id, top: .max)], rest)
    }

    /// A claim saw these in a route's line: the first of all whose turn it was, without the last of them if it `isCut`.
    /// `last`: the highest id that was given out; `passed`: how many entries of gone jobs it passed over.
    func saw(_ sights: [Sight], of route: Int64, isWhole: Bool, isCut: Bool, last: Int64, passed: Int64, now: Int64) {
      lines.withLock { lines in
        if isWhole, passed <= Self.bearable { return lines[route] = nil }
        let old = lines[route]
        guard let wholeAt = isWhole ? now + Self.pause(after: passed) : old?.wholeAt else { return }
        // In a partly known line, each known rank was searched. Most jobs have the usual one.
        let end = isWhole && isCut ? sights.map(\.rank).max() ?? .max : .max
        var starts = (old?.starts ?? [0: 0]).filter { $0.key <= end }.mapValues { _ in last - Self.inFlight }
        for sight in sights { starts[sight.rank] = min(sight.first - 1, last - Self.inFlight) }
        for rank in starts.keys.sorted().dropFirst(Self.mostRanks) { starts[rank] = nil }
        lines[route] = Line(starts: starts, wholeAt: wholeAt)
      }
    }
  }
#endif
