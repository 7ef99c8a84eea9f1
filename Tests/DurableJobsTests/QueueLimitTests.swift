import Testing

@testable import DurableJobs

/// Limits as numbers: no store, no clock.
@Suite struct QueueLimitTests {
  private let now: Int64 = 1_800_000_000_000

  /// `after`: milliseconds since some time.
  private func limit(
    _ limits: JobLimits, running: Int = 0, tat: Int64 = 0, after time: Int64 = 0, isOwn: Bool = true
  ) -> QueueLimit {
    QueueLimit(queue: "q", limits: limits, running: running, tat: tat, at: now + time, isOwn: isOwn)
  }

  @Test func `what is left of a limit of running jobs is free, and never less than nothing`() {
    for (running, places) in [(0, 4), (3, 1), (4, 0), (9, 0)] {
      let limit = limit(JobLimits(running: 4), running: running)
      #expect(limit.places == places)
      #expect(limit.hasSlot == (places > 0))
      #expect(limit.next == nil, "no time helps")
    }
  }

  @Test func `a bucket that was never used has a burst in it, and not one more`() {
    let limits = JobLimits(rate: JobRate(10, per: .seconds(60), burst: 3))
    var first = limit(limits)
    #expect(first.places == 3)
    #expect(!first.isNews)
    first.take(3)
    #expect(first.places == 0)
    #expect(first.isNews)
    #expect(first.next == now + 6000)
    let times: [(Int64, Int)] = [(5999, 0), (6000, 1), (11_999, 1), (12_000, 2), (18_000, 3), (1_000_000, 3)]
    for (time, places) in times { #expect(limit(limits, tat: first.tat, after: time).places == places) }
  }

  @Test func `what is not taken is not lost, up to a burst`() {
    let limits = JobLimits(rate: JobRate(1, per: .seconds(1), burst: 2))
    var first = limit(limits)
    first.take(1)
    var second = limit(limits, tat: first.tat, after: 500)
    #expect(second.places == 1)
    second.take(0)
    #expect(!second.isNews)
    second.take(1)
    #expect(second.next == now + 1000)
  }

  @Test func `parts of a microsecond are no gain: a rate is never above what it says`() {
    let limits = JobLimits(rate: JobRate(7, per: .seconds(1)))
    var (tat, starts): (Int64, Int) = (0, 0)
    for step in 0...1_000_000 {
      var limit = limit(limits, tat: tat, after: Int64(step))
      guard limit.places > 0 else { continue }
      limit.take(1)
      (tat, starts) = (limit.tat, starts + 1)
    }
    #expect(starts <= 7 * 1000 + 1)
    #expect(starts > 6900)
  }

  @Test func `a time that no burst led to is cut to an empty bucket, and that is news`() {
    let limits = JobLimits(rate: JobRate(1, per: .seconds(10), burst: 2))
    for tat in [(now + 86_400_000) * 1000, .max] {
      let limit = limit(limits, tat: tat)
      #expect(limit.places == 0)
      #expect(limit.isNews)
      #expect(limit.next == now + 10_000)
    }
    #expect(limit(limits, tat: .min).places == 2)
  }

  @Test func `a time that another transaction reckoned a little later is kept`() {
    let limits = JobLimits(rate: JobRate(1, per: .seconds(10), burst: 2))
    let limit = limit(limits, tat: (now + 20_000 + 3000) * 1000)
    #expect(limit.places == 0)
    #expect(!limit.isNews)
    #expect(limit.next == now + 13_000)
  }

  @Test func `the smaller of both limits counts`() {
    let rate = JobRate(1, per: .seconds(1), burst: 5)
    #expect(limit(JobLimits(running: 2, rate: rate)).places == 2)
    #expect(limit(JobLimits(running: 9, rate: rate)).places == 5)
  }

  @Test func `where another one claims there is no room`() {
    #expect(limit(JobLimits(running: 4), isOwn: false).places == 0)
  }

  @Test func `stored numbers that are no limits limit nothing`() {
    #expect(JobLimits(running: 4, count: nil, period: nil, burst: nil) == JobLimits(running: 4))
    #expect(
      JobLimits(running: nil, count: 5, period: 1000, burst: 2)
        == JobLimits(rate: JobRate(5, per: .seconds(1), burst: 2)))
    #expect(JobLimits(running: 0, count: nil, period: nil, burst: nil) == nil)
    #expect(JobLimits(running: nil, count: 5, period: -1, burst: 2) == nil)
    #expect(JobLimits(running: nil, count: nil, period: nil, burst: nil) == nil)
  }

  @Test func `limits read as one says them`() {
    let limits = JobLimits(running: 4, rate: JobRate(100, per: .seconds(60), burst: 10))
    #expect("\(limits)" == "4 at once, 100 a minute and 10 in a row")
    #expect("\(JobLimits(rate: JobRate(3, per: .seconds(86400))))" == "3 a day")
    #expect("\(JobRate(5, per: .seconds(90)))" == "5 in 90.0 seconds")
  }
}
