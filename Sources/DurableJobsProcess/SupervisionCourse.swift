#if Process
  import DurableJobs

  /// What a supervisor does next: it is told what happened, and returns the next step.
  ///
  /// A value, without clock or I/O. `now` is any time that never steps.
  struct SupervisionCourse {
    enum Step: Equatable {
      /// Sleep until something happens, or until then.
      case wait(until: Duration?)
      /// Ask the command, and what else is in its session, to end.
      case terminate
      /// Ask the strays of the session: their parents have not done that, or they have not noticed.
      case askStrays
      /// Check whether anything but the supervisor lives. Answered by `isAlone`.
      case look
      /// End the command at once.
      case kill
      /// Report. What is left of the group ends with the supervisor.
      case done
    }

    var lifeLineIsCut = false
    var commandHasEnded = false
    var outputsAreClosed = false
    /// The session was asked to end, and is not asked again: many programs take a second TERM for "at once".
    var wasTold = false
    /// Nothing of the command lives.
    var isAlone = false

    /// When somebody sent HUP to the supervisor last, as a service manager may to each process.
    var hungUp: Duration?

    private var asked: Duration?
    private var straysAreAsked = false
    private var killed: Duration?
    private var nextLook = Duration.zero
    private var pauses = LookPauses()

    /// How long to listen to processes that have left the group and still hold an output; and how long killed processes
    /// are given to be gone.
    static let lastWords = Duration.seconds(1)
    /// How long the whole may take once the life line was cut.
    static let longest = CommandLock.termination + lastWords

    mutating func next(_ now: Duration) -> Step {
      guard let asked else {
        guard commandHasEnded || lifeLineIsCut else { return .wait(until: nil) }
        asked = now
        nextLook = now
        if !wasTold { return .terminate }
        return next(now)
      }
      let half = asked + CommandLock.termination / 2
      if now >= half, killed == nil, !straysAreAsked, !isAlone {
        straysAreAsked = true
        return .askStrays
      }
      guard commandHasEnded else { return pressing(asked, straysAreAsked ? nil : half, now) }
      if isAlone, outputsAreClosed { return .done }
      let limit = asked + (isAlone ? Self.lastWords : CommandLock.termination)
      if now >= limit { return .done }
      if isAlone { return .wait(until: limit) }
      if now < nextLook { return .wait(until: min(nextLook, limit)) }
      nextLook = now + pauses.next()
      return .look
    }

    /// Whether a command that is found to have ended now may have done that because it was sent HUP with its supervisor:
    /// a worker that was sent it, too, gives the command its grace, by default ten seconds, before it is told to end.
    func mayAnswerHangUp(_ now: Duration) -> Bool {
      hungUp.map { now <= $0 + Defaults.grace + CommandLock.termination } ?? false
    }

    /// The command was asked to end, and has not.
    private mutating func pressing(_ asked: Duration, _ half: Duration?, _ now: Duration) -> Step {
      guard let killed else {
        let limit = asked + CommandLock.termination
        if now < limit { return .wait(until: half ?? limit) }
        killed = now
        return .kill
      }
      // Even then it may be unable to die, for example while it waits for a device.
      let limit = killed + Self.lastWords
      return now < limit ? .wait(until: limit) : .done
    }
  }
#endif
