/// Who watches whom: the sessions of a folder stand in a ring, by name, and each watches the next.
struct PeerRing: Equatable {
  let own: String

  /// The others, in the order in which this session tries to watch them: its neighbour first, then once around.
  func others(among names: some Sequence<String>) -> [String] {
    let others = Set(names).subtracting([own]).sorted()
    return others.filter { $0 > own } + others.filter { $0 < own }
  }

  /// How long to wait, in milliseconds, before a peer is looked at again that is neither reachable nor dead, after
  /// that many looks. Such a state passes in the time that a system takes to end a process; one that stays in it is
  /// not waited for, and the leases judge.
  static func pause(afterLooks looks: Int) -> Int32? {
    (0..<10).contains(looks) ? 1 << Int32(looks) : nil
  }
}
