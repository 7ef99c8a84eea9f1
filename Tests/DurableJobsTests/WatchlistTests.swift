import Testing

@testable import DurableJobs

/// What a signal gives those who wait to look at.
@Suite struct WatchlistTests {
  private func job(_ number: Int) -> JobID { JobID(rawValue: Int64(number)) }

  private func change(_ number: Int, _ state: JobState, queue: String = "q", isRemoved: Bool = false) -> JobTransition {
    JobTransition(id: job(number), queue: queue, kind: "k", state: state, isRemoved: isRemoved)
  }

  /// All looks that there are, of one page each.
  private func looks(_ list: inout Watchlist) -> [Watchlist.Look] {
    var all: [Watchlist.Look] = []
    while let look = list.nextLook() { all.append(look) }
    return all
  }

  private func seen(jobs: ClosedRange<Int> = 1...3, queues: [String] = []) -> Watchlist {
    var list = Watchlist()
    for number in jobs { list.add(.end(of: job(number))) }
    for queue in queues { list.add(.idleness(of: queue)) }
    _ = looks(&list)
    return list
  }

  @Test func `all that begin to wait together are looked at together, once`() {
    var list = Watchlist()
    for number in 1...3 { list.add(.end(of: job(number))) }
    #expect(looks(&list) == [.jobs([job(1), job(2), job(3)])])
    #expect(!list.hasNews)
  }

  @Test func `a commit of this process has only those looked at that ended with it, and are waited for`() {
    var list = seen()
    list.heard(.committed([change(1, .running), change(2, .succeeded), change(3, .scheduled), change(4, .failed)]))
    #expect(looks(&list) == [.jobs([job(2)])])
    list.heard(.committed([change(1, .running), change(3, .ready)]))
    #expect(!list.hasNews)
    list.heard(.committed([change(3, .ready, isRemoved: true)]))
    #expect(looks(&list) == [.jobs([job(3)])])
  }

  @Test func `another process's results have all looked at once, however many tell of them`() {
    var list = seen()
    for _ in 1...10 { list.heard(.changedElsewhere(.results)) }
    #expect(looks(&list) == [.jobs([job(1), job(2), job(3)])])
    list.heard(.changedElsewhere(.work))
    #expect(!list.hasNews)
  }

  @Test func `many are looked at in pages, and each has its turn however often all may have ended`() {
    var list = seen(jobs: 1...600)
    var times: [JobID: Int] = [:]
    for _ in 1...6 {
      list.heard(.changedElsewhere(.results))
      guard case .jobs(let page) = list.nextLook() else { return #expect(Bool(false), "a page of jobs") }
      #expect(page.count <= Watchlist.pageSize)
      for id in page { times[id, default: 0] += 1 }
    }
    #expect(times.count == 600)
    #expect(times.values.allSatisfy { $0 == 2 })
  }

  @Test func `a queue is looked at after each change in it but a start, and whenever others may have changed it`() {
    var list = seen(queues: ["q", "p"])
    list.heard(.committed([change(7, .running), change(8, .succeeded)]))
    #expect(looks(&list) == [.queue("q")])
    list.heard(.committed([change(7, .running)]))
    #expect(!list.hasNews)
    list.heard(.changedElsewhere(.work))
    #expect(Set(looks(&list).map { "\($0)" }) == [#"queue("p")"#, #"queue("q")"#])
    list.workersChanged()
    #expect(looks(&list).count == 2)
  }

  @Test func `jobs and queues keep each other from nothing`() {
    var list = seen(jobs: 1...600, queues: ["q"])
    list.mustSeeEverything()
    var order: [String] = []
    for _ in 1...6 {
      list.heard(.committed([change(9, .succeeded)]))  // the queue again
      switch list.nextLook() {
      case .jobs: order.append("jobs")
      case .queue: order.append("queue")
      case nil: order.append("nothing")
      }
    }
    #expect(order.count { $0 == "jobs" } == 3)
    #expect(order.count { $0 == "queue" } == 3)
  }

  @Test func `what nobody waits for is not looked at`() {
    var list = seen(queues: ["q"])
    list.remove(.end(of: job(2)))
    list.remove(.idleness(of: "q"))
    list.mustSeeEverything()
    #expect(looks(&list) == [.jobs([job(1), job(3)])])
  }
}
