#if Shell
  import Foundation

  /// How urgently somebody wants the end of a worker, and how it began.
  ///
  /// Not every signal is a demand of its own: a terminal that closes sends HUP twice, a session that ends TERM and HUP.
  struct StopDemands: Equatable, Sendable {
    enum Urgency {
      /// Claim nothing more, and give what runs its grace.
      case stop
      /// End what runs.
      case endAll
      /// End this process, whatever runs.
      case exit
    }

    /// All TERM are one demand: each `durable work stop` sends one, and waits.
    private let isInBackground: Bool
    private var count = 0
    private var first: Int32?
    private var lastTerm: Duration?

    /// A TERM that comes sooner after another is taken for the same demand.
    private static let pause = Duration.seconds(1)

    init(isInBackground: Bool = false) { self.isInBackground = isInBackground }

    /// Each demand is more urgent: Ctrl-C after any other, TERM some time after another TERM. Nil if it is none. `now` is
    /// any time that never steps.
    mutating func ask(_ signal: Int32, _ now: Duration) -> Urgency? {
      defer { if signal == SIGTERM { lastTerm = now } }
      if first == nil {
        first = signal
      } else if signal == SIGHUP
        || (signal == SIGTERM && (isInBackground || lastTerm.map { now < $0 + Self.pause } ?? true))
      {
        return nil
      }
      count += 1
      return count == 1 ? .stop : count == 2 ? .endAll : .exit
    }

    var wasAsked: Bool { count > 0 }

    /// A service manager asked, as it does when all is well, and nobody was in a hurry.
    var isOrderly: Bool { count == 1 && first == SIGTERM }
  }
#endif
