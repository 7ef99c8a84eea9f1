import Testing

@testable import DurableJobs

/// What a signal gives those who wait to look at.
@Suite struct WatchlistTests {
  private func job(_ number: Int) -> JobID { JobID(rawValue: Int64(number)) }

  private func change(_ number: Int, _ state: JobState, isRemoved: Bool = false) -> JobTransition {
    JobTransition(id: job(number), queue: "q", kind: "k", state: state, isRemoved: isRemoved)
  }

  /// All looks that there are, of one page each.
  private func looks(_ list: inout Watchlist) -> [[JobID]] {
    var all: [[JobID]] = []
    while let look = list.nextLook() { all.append(look) }
    return all
  }

  private func seen(jobs: ClosedRange<Int> = 1...3) -> Watchlist {
    var list = Watchlist()
    for number in jobs { list.add(job(number)) }
    _ = looks(&list)
    return list
  }

  @Test func `all that begin to wait together are looked at together, once`() {
    var list = Watchlist()
    for number in 1...3 { list.add(job(number)) }
    #expect(looks(&list) == [[job(1), job(2), job(3)]])
    #expect(!list.hasNews)
  }

  @Test func `a commit of this process has only those looked at that ended with it, and are waited for`() {
    var list = seen()
    list.heard(.committed([change(1, .running), change(2, .succeeded), change(3, .scheduled), change(4, .failed)]))
    #expect(looks(&list) == [[job(2)]])
    list.heard(.committed([change(1, .running), change(3, .ready)]))
    #expect(!list.hasNews)
    list.heard(.committed([change(3, .ready, isRemoved: true)]))
    #expect(looks(&list) == [[job(3)]])
  }

  @Test func `another process's results have all looked at once, however many tell of them`() {
    var list = seen()
    for _ in 1...10 { list.heard(.changedElsewhere(.results)) }
    #expect(looks(&list) == [[job(1), job(2), job(3)]])
    list.heard(.changedElsewhere(.work))
    #expect(!list.hasNews)
  }

  @Test func `many are looked at in pages, and each has its turn however often all may have ended`() throws {
    var list = seen(jobs: 1...600)
    var times: [JobID: Int] = [:]
    for _ in 1...6 {
      list.heard(.changedElsewhere(.results))
      let look = list.nextLook()
      let page = try #require(look)
      #expect(page.count <= Watchlist.pageSize)
      for id in page { times[id, default: 0] += 1 }
    }
    #expect(times.count == 600)
    #expect(times.values.allSatisfy { $0 == 2 })
  }

  @Test func `what nobody waits for is not looked at`() {
    var list = seen()
    list.remove(job(2))
    list.mustSeeEverything()
    #expect(looks(&list) == [[job(1), job(3)]])
  }
}
