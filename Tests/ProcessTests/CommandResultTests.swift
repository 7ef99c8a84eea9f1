#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// What a supervisor's report means for its job.
  @Suite struct ResultTests {
    private func result(_ ending: SupervisorReport.Ending, wasAsked: Bool, _ reason: StopReason?) -> CommandResult {
      CommandResult(SupervisorReport(ending: ending, wasAsked: wasAsked), stopReason: reason)
    }

    @Test func `one that was given up at its deadline has failed, and is not tried again`() {
      let result = CommandResult.stopped(.overdue)
      #expect((result.outcome, result.mayBeRetried) == ("failed", false))
      #expect("\(result)" == "given up, because its deadline has passed")
    }

    @Test func `a success is one unless it came only after a stop was asked for`() {
      #expect(result(.exited(0), wasAsked: false, .timedOut) == .exited(0, lastLine: nil))
      #expect(result(.exited(0), wasAsked: true, nil) == .askedToEnd)
      #expect(result(.exited(0), wasAsked: true, .timedOut) == .stopped(.timedOut))
      #expect(result(.exited(0), wasAsked: true, .shutdown) == .stopped(.shutdown))
    }

    @Test(arguments: [StopReason.timedOut, .shutdown, .suspended, .constraintLost, .overdue])
    func `no stop takes back an end that came first, and any does one that may be its answer`(reason: StopReason) {
      #expect(result(.exited(3), wasAsked: false, reason) == .exited(3, lastLine: nil))
      #expect(result(.signalled(SIGSEGV), wasAsked: false, reason) == .killed(signal: SIGSEGV))
      #expect(result(.exited(143), wasAsked: false, reason) == .stopped(reason))
      #expect(result(.signalled(SIGINT), wasAsked: false, reason) == .stopped(reason))
      #expect(result(.exited(3), wasAsked: true, reason) == .stopped(reason))
    }

    @Test func `a run that a later one has overtaken is no longer its worker's`() {
      #expect(result(.notStarted(.overtaken), wasAsked: false, nil) == .stopped(.claimLost))
      #expect(result(.notStarted(.overtaken), wasAsked: false, .timedOut) == .stopped(.claimLost))
    }

    @Test func `HUP to a supervisor takes no success back, and is a request only for who hears of a stop elsewhere`() {
      let hungUp = SupervisorReport(ending: .exited(0), wasHungUp: true)
      #expect(CommandResult(hungUp, stopReason: .shutdown) == .exited(0, lastLine: nil))
      #expect(!hungUp.isAnswerToStop)
      #expect(SupervisorReport(ending: .exited(1), wasHungUp: true).isAnswerToStop)
      #expect(SupervisorReport(ending: .notStarted(.passing("asked")), wasAsked: true).isAnswerToStop)
    }

    @Test func `any end may be the answer of a command that was asked, and without that only one that says so`() {
      #expect(SupervisorReport(ending: .exited(20), wasAsked: true).isAnswerToStop)
      #expect(!SupervisorReport(ending: .exited(20)).isAnswerToStop)
      #expect(SupervisorReport(ending: .exited(143)).isAnswerToStop)
      #expect(SupervisorReport(ending: .signalled(SIGHUP)).isAnswerToStop)
      #expect(!SupervisorReport(ending: .signalled(SIGKILL)).isAnswerToStop)
      #expect(!SupervisorReport(ending: .notStarted(.lockHeld), wasAsked: true).isAnswerToStop)
    }
  }

  /// Commands that somebody else tells to end, again and again.
  @Suite struct ToldTooOftenTests {
    @Test func `a command that was told to end ten times in a row, and by nobody known, says that at last`() {
      let asked: String? = "\(CommandResult.askedToEnd)"
      #expect(ToldTooOften(Array(repeating: asked, count: 9)) == nil)
      #expect(ToldTooOften(Array(repeating: asked, count: 9) + ["\(CommandResult.supervisorDied)", asked]) == nil)
      let error = ToldTooOften([nil] + Array(repeating: asked, count: 10))
      #expect(error.map { "\($0)".hasPrefix("it was interrupted 10 times in a row") } == true)
    }
  }
#endif
