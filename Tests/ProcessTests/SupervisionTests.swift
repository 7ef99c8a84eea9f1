#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// What a supervisor does, with no process.
  @Suite struct SupervisionTests {
    @Test func `while the command runs, a supervisor waits without a limit`() {
      let course = Course()
      #expect(course.next(.zero) == .wait(until: nil))
      #expect(course.next(.seconds(100_000)) == .wait(until: nil))
    }

    @Test func `a command that ended alone, with its outputs closed, is done at once`() {
      let course = Course()
      course.change { $0.commandHasEnded = true }
      #expect(course.next(.seconds(1)) == .terminate)
      #expect(course.next(.seconds(1)) == .look)
      course.change {
        $0.isAlone = true
        $0.outputsAreClosed = true
      }
      #expect(course.next(.seconds(1)) == .done)
    }

    @Test func `what a command leaves in its group is asked to end, looked at ever more rarely, and given 5 s`() {
      let course = Course()
      course.change { $0.commandHasEnded = true }
      #expect(course.next(.zero) == .terminate)
      var now = Duration.zero
      var (looks, asks) = (0, [Duration]())
      while true {
        switch course.next(now) {
        case .look: looks += 1
        case .askStrays: asks.append(now)
        case .wait(until: let time?): now = time
        case let step:
          #expect(step == .done)
          #expect(now == .seconds(5))
          #expect((10...70).contains(looks), "\(looks)")
          #expect(asks.count == 1 && asks[0] >= .milliseconds(2500), "\(asks)")
          return
        }
      }
    }

    @Test func `who has left the group, and holds an output, is listened to for a second`() {
      let course = Course()
      course.change { $0.commandHasEnded = true }
      #expect(course.next(.zero) == .terminate)
      #expect(course.next(.zero) == .look)
      course.change { $0.isAlone = true }
      #expect(course.next(.zero) == .wait(until: .seconds(1)))
      #expect(course.next(.seconds(1)) == .done)
    }

    @Test func `a cut life line asks the command to end, and ends it after 5 s`() {
      let course = Course()
      course.change { $0.lifeLineIsCut = true }
      #expect(course.next(.seconds(1)) == .terminate)
      #expect(course.next(.seconds(1)) == .wait(until: .milliseconds(3500)))
      #expect(course.next(.milliseconds(3500)) == .askStrays, "who started them has had the time to do that")
      #expect(course.next(.milliseconds(3500)) == .wait(until: .seconds(6)))
      #expect(course.next(.seconds(6)) == .kill)
      #expect(course.next(.seconds(6)) == .wait(until: .seconds(7)))
      course.change { $0.commandHasEnded = true }
      #expect(course.next(.milliseconds(6001)) == .done)
    }

    @Test func `what somebody has asked to end already is not asked again, and has its 5 s`() {
      let course = Course()
      course.change {
        $0.wasTold = true
        $0.lifeLineIsCut = true
      }
      #expect(course.next(.seconds(1)) == .wait(until: .milliseconds(3500)))
      #expect(course.next(.milliseconds(3500)) == .askStrays)
      #expect(course.next(.seconds(6)) == .kill)
      let ended = Course()
      ended.change {
        $0.wasTold = true
        $0.commandHasEnded = true
      }
      #expect(ended.next(.seconds(1)) == .look)
    }

    @Test func `an end may be the answer to a HUP for a worker's usual grace and the time of a TERM, and no longer`() {
      let course = Course()
      #expect(!course.mayAnswerHangUp(.zero))
      course.change { $0.hungUp = .seconds(1) }
      #expect(course.mayAnswerHangUp(.seconds(16)))
      #expect(!course.mayAnswerHangUp(.milliseconds(16_001)))
    }

    @Test func `a command that can't even be killed is given up`() {
      let course = Course()
      course.change { $0.lifeLineIsCut = true }
      for now in [Duration.zero, .milliseconds(2500), .seconds(5)] { _ = course.next(now) }
      #expect(course.next(.seconds(6)) == .done)
    }
  }

  /// A course in a class, since `#expect` can't call what mutates a value.
  private final class Course {
    private var course = SupervisionCourse()
    func next(_ now: Duration) -> SupervisionCourse.Step { course.next(now) }
    func mayAnswerHangUp(_ now: Duration) -> Bool { course.mayAnswerHangUp(now) }
    func change(_ body: (inout SupervisionCourse) -> Void) { body(&course) }
  }
#endif
