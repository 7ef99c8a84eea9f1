import Foundation

/// What a session knows of its peers, and the connections through which it notices that its neighbour is gone, or who
/// watches it. Only used by the session's listener thread. Who leaves says so with a byte: a connection that ends without
/// was a dead process's.
struct PeerWatch {
  private let folder: MeetingFolder
  private let own: String
  private let onDeath: (String) -> Void
  private var neighbour: (name: String, connection: Descriptor)?
  /// The connections of the sessions that watch this one.
  private(set) var watchers: [Descriptor] = []
  /// Whether the process can't open more files. A pending connection watches as well as an accepted one.
  private(set) var isFull = false
  private var reported: Set<String> = []
  /// How many looks there were since a peer vanished, while they continue.
  private var looks: Int?

  init(folder: MeetingFolder, own: String, onDeath: @escaping (String) -> Void) {
    (self.folder, self.own, self.onDeath) = (folder, own, onDeath)
  }

  /// The sessions watch each other in a ring: they are ordered by name, and each watches the next. The others in the order
  /// in which `own` tries to watch them: its neighbour first, then around the ring.
  static func ring(_ names: some Sequence<String>, after own: String) -> [String] {
    let others = Set(names).subtracting([own]).sorted()
    return others.filter { $0 > own } + others.filter { $0 < own }
  }

  /// How many milliseconds to wait before looking again, after this many looks, at a peer that is neither reachable nor
  /// dead. That state lasts as long as the system takes to end a process; if it lasts longer, the wait ends, and the
  /// leases decide.
  static func pause(afterLooks looks: Int) -> Int32? { (0..<10).contains(looks) ? 1 << Int32(looks) : nil }

  /// Becomes readable when the neighbour is gone.
  var connection: Descriptor? { neighbour?.connection }

  /// Milliseconds until the next look, if nothing happens before.
  var pause: Int32? { looks.flatMap(Self.pause(afterLooks:)) }

  /// Finds sessions that died before this one started, and joins the ring of living ones.
  mutating func join() {
    lookForDead()
    ringHasChanged()
  }

  /// Called when a session may have died.
  mutating func look() {
    looks = -1
    lookAgain()
  }

  /// Looks again, since the last look may have been too early: a process's connections may close before its lock.
  mutating func lookAgain() {
    looks? += 1
    if pause == nil { looks = nil }
    lookForDead()
    findNeighbour()
  }

  /// Called when a session joined or left.
  mutating func ringHasChanged() { if !findNeighbour() { looks = 0 } }

  /// Called when the connection to the neighbour is readable.
  mutating func hearNeighbour() {
    guard let connection = neighbour?.connection else { return }
    let hasLeft = UnixSocket.receive(from: connection) != nil
    neighbour = nil
    if hasLeft { ringHasChanged() } else { look() }
  }

  /// Called when there are sessions to watch this one.
  mutating func accept(from listening: Descriptor) {
    while let connection = UnixSocket.accepted(by: listening) { watchers.append(connection) }
    isFull = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED
  }

  /// Drops the readable ones of ``watchers``, whose sessions are gone, and looks if one died: the one that should notice may
  /// be stopped.
  mutating func hearWatchers(where isReady: (Int) -> Bool) {
    let gone = watchers.indices.filter(isReady)
    guard !gone.isEmpty else { return }
    let hasVanished = gone.contains { UnixSocket.receive(from: watchers[$0]) == nil }
    for index in gone.reversed() { watchers.remove(at: index) }
    isFull = false
    if hasVanished { look() }
  }

  /// Ends the watch in a way that no peer takes for a death.
  mutating func leave() {
    watch(nil)
    for connection in watchers { UnixSocket.send(0, on: connection) }
  }

  private mutating func watch(_ next: (name: String, connection: Descriptor)?) {
    if let neighbour { UnixSocket.send(0, on: neighbour.connection) }
    neighbour = next
  }

  private mutating func lookForDead() {
    let names = folder.sessions()
    reported.formIntersection(names)
    for name in names where name != own { reportIfDead(name) }
  }

  /// Connects to the neighbour, the next session that can be reached, unless already connected. Returns false if a
  /// session that seems alive was skipped.
  @discardableResult
  private mutating func findNeighbour() -> Bool {
    var hasMissed = false
    for name in Self.ring(folder.sessions(), after: own) where !reported.contains(name) {
      if name == neighbour?.name { return !hasMissed }
      if let connection = UnixSocket.connected(to: SessionFile.life.path(of: name, in: folder.path)) {
        watch((name, connection))
        return !hasMissed
      }
      if reportIfDead(name) { hasMissed = true }
    }
    watch(nil)
    return !hasMissed
  }

  /// Reports the session if it is dead. Returns whether its lock is held.
  @discardableResult
  private mutating func reportIfDead(_ name: String) -> Bool {
    // Its lock is free again before others are told, who will take it.
    let isAlive: Bool? =
      switch folder.standing(of: name) {
      case .alive: true
      case .dead: false
      case .unknown: nil
      }
    if isAlive == false, reported.insert(name).inserted { onDeath(name) }
    return isAlive ?? false
  }
}
