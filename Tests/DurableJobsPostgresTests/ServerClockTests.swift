#if Postgres
  import DurableJobs
  import Testing

  @testable import DurableJobsPostgres

  @Suite struct ServerClockTests {
    @Test("A server's clock knows how long the machine slept, which its uptime does not tell")
    func continuous() {
      let before = SystemClock().continuous
      let seen = (ServerClock() as any JobClock).continuous
      #expect((before...SystemClock().continuous).contains(seen))
    }
  }
#endif
