/// The ring in which sessions watch each other: they are ordered by name, and each watches the next.
struct PeerRing: Equatable {
  let own: String

  /// The other sessions in the order in which this one tries to watch them: its neighbour first, then around the ring.
  func others(among names: some Sequence<String>) -> [String] {
    let others = Set(names).subtracting([own]).sorted()
    return others.filter { $0 > own } + others.filter { $0 < own }
  }

  /// How many milliseconds to wait before looking again, after this many looks, at a peer that is neither reachable nor
  /// dead. That state lasts as long as the system takes to end a process; if it lasts longer, the wait ends, and the
  /// leases decide.
  static func pause(afterLooks looks: Int) -> Int32? {
    (0..<10).contains(looks) ? 1 << Int32(looks) : nil
  }
}
