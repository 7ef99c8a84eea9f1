#if Postgres
  import DurableJobs

  /// From which time on due jobs are looked for. While a transaction stays open anywhere in the database, the server keeps
  /// an entry of each job that waited for its time, and a search from the first passes over all that came due meanwhile.
  /// If that costs much, a claim starts behind the time up to which it had found all.
  ///
  /// A job that is stored with an earlier time is found by the next claim that searches from the first, see
  /// ``LineStarts``.
  final class DueStarts: Sendable {
    private struct Line {
      /// What is due by then was found.
      var start: Int64
      /// When it is next searched from the first, by the store's time.
      var wholeAt: Int64
    }

    private let lines = Lock<[Int64: Line]>([:])

    /// Jobs that are being stored were due, in milliseconds, so long ago at most.
    static let inFlight: Int64 = 20

    /// By route, the time behind which to search; and how soon one of them will be searched whole, if not now.
    func starts(of routes: [Int64], now: Int64) -> (starts: [Int64], wholeIn: Int64?) {
      lines.withLock { lines in
        var rests: [Int64] = []
        let starts = routes.map { route -> Int64 in
          guard let line = lines[route], let rest = LineStarts.rest(until: line.wholeAt, now: now) else { return .min }
          rests.append(rest)
          return line.start
        }
        return (starts, rests.min())
      }
    }

    /// A claim looked for due jobs behind these starts, and found all but those of the routes that have `more`. It passed
    /// over so many entries of jobs that are gone.
    func saw(_ routes: [Int64], from starts: [Int64], more: Set<Int64>, passed: Int64, now: Int64) {
      lines.withLock { lines in
        for (route, start) in zip(routes, starts) {
          let isWhole = start == .min
          if isWhole && passed <= LineStarts.bearable || more.contains(route) {
            lines[route] = nil
          } else {
            let wholeAt = isWhole ? now + LineStarts.pause(after: passed) : lines[route]?.wholeAt ?? now
            lines[route] = Line(start: now - Self.inFlight, wholeAt: wholeAt)
          }
        }
      }
    }
  }
#endif
