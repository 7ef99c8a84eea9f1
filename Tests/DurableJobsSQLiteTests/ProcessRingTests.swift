import Testing

@testable import DurableJobsSQLite

@Suite("The ring of sessions")
struct ProcessRingTests {
  @Test(
    "Each watches the next by name, and the last the first",
    arguments: [
      ("b", ["a", "b", "c"], ["c", "a"]),
      ("c", ["c", "a", "b"], ["a", "b"]),
      ("a", ["a"], []),
      ("a", [], []),
      ("b", ["d", "a", "c"], ["c", "d", "a"]),
    ])
  func others(own: String, names: [String], order: [String]) {
    #expect(PeerWatch.ring(names, after: own) == order)
  }

  @Test("Everybody is watched by somebody, however many there are", arguments: 2...9)
  func everybodyIsWatched(count: Int) {
    let names = (0..<count).map { String($0) }
    #expect(Set(names.map { PeerWatch.ring(names, after: $0)[0] }) == Set(names))
  }

  @Test("Who is neither reachable nor dead is looked at again for about a second, and then left to the leases")
  func doubtEnds() {
    let pauses = (0..<20).map { PeerWatch.pause(afterLooks: $0) }
    #expect(pauses.first == 1)
    #expect(pauses.compactMap { $0 }.reduce(0, +) == 1023)
    #expect(pauses.last == .some(nil))
  }
}
