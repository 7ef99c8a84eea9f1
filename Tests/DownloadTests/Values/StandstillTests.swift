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

    @Test func `a body of which the other end takes something, however little, is not given up`() async throws {
      let clock = ManualClock()
      let request = Standstill(after: .seconds(60), answerAfter: .seconds(600), clock: clock)
      let taken = Lock<UInt64>(0)
      let began = clock.uptime
      let error = await #expect(throws: RequestError.self) {
        // Nothing more of the body is read all the while.
        try await request.watching("a server", taken: { taken.withLock { $0 } }) {
          while !Task.isCancelled {
            if clock.timers.contains(.seconds(60)) {
              taken.withLock { if $0 < 10 { $0 += 1 } }
              clock.advance(by: .seconds(60))
            }
            await Task.yield()
          }
          try Task.checkCancellation()
        }
      }
      #expect(error?.message == "a server took nothing and said nothing for 60 s")
      #expect(clock.uptime - began == .seconds(11 * 60))
    }

    @Test func `what was taken is compared over a whole limit, whenever something of the body was read last`()
      async throws
    {
      let clock = ManualClock()
      let request = Standstill(after: .seconds(60), answerAfter: .seconds(600), clock: clock)
      let taken = Lock<UInt64>(0)
      let began = clock.uptime
      await #expect(throws: RequestError.self) {
        try await request.watching("a server", taken: { taken.withLock { $0 } }) {
          // The last piece is read a second after the first.
          while !clock.timers.contains(.seconds(60)) { await Task.yield() }
          clock.advance(by: .seconds(1))
          request.moved()
          while !Task.isCancelled {
            if let next = clock.timers.min() {
              if next > .seconds(30) { taken.withLock { if $0 < 10 { $0 += 1 } } }
              clock.advance(by: next)
            }
            await Task.yield()
          }
          try Task.checkCancellation()
        }
      }
      #expect(clock.uptime - began >= .seconds(600))
    }
  }
#endif
