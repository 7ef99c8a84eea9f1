#if Shell
  import Foundation

  /// How often somebody asked for the end of a worker, and how it began.
  struct StopDemands: Equatable, Sendable {
    enum Urgency {
      /// Claim nothing more, and give what runs its grace.
      case stop
      /// End what runs.
      case endAll
      /// End this process, whatever runs.
      case exit
    }

    private var count = 0
    private var first: Int32?

    /// Each time it is more urgent.
    mutating func ask(_ signal: Int32) -> Urgency {
      count += 1
      if count == 1 { first = signal }
      return count == 1 ? .stop : count == 2 ? .endAll : .exit
    }

    var wasAsked: Bool { count > 0 }

    /// A service manager asked, as it does when all is well, and nobody was in a hurry.
    var isOrderly: Bool { count == 1 && first == SIGTERM }
  }
#endif
