#if HTTP
  import DurableJobs
  import DurableJobsTesting
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct StandstillTests {
    @Test func `an answer that moves and comes to no end is given up`() async {
      let clock = ManualClock()
      let request = Standstill(after: .seconds(60), answerAfter: .seconds(600), clock: clock)
      let began = clock.uptime
      let error = await #expect(throws: RequestError.self) {
        try await request.watching("a server") {
          let answer = request.decided()
          try await answer.watching("a server") {
            while !Task.isCancelled {
              answer.moved()
              if !clock.timers.isEmpty { clock.advance(by: .seconds(30)) }
              await Task.yield()
            }
          }
        }
      }
      #expect(error?.message == "the answer of a server did not end in 600 s")
      #expect(clock.uptime - began >= .seconds(600))
    }
  }
#endif
