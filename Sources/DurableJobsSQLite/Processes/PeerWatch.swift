/// What one session knows of its peers, and the connection by which it notices that its neighbour is gone. Belongs to
/// the session's listener thread.
struct PeerWatch {
  private let folder: MeetingFolder
  private let ring: PeerRing
  private let onDeath: (String) -> Void
  private var neighbour: (name: String, connection: Descriptor)?
  private var reported: Set<String> = []
  /// How often was looked since somebody vanished, while that goes on.
  private var looks: Int?

  init(folder: MeetingFolder, own: String, onDeath: @escaping (String) -> Void) {
    self.folder = folder
    self.ring = PeerRing(own: own)
    self.onDeath = onDeath
  }

  /// Becomes readable when the neighbour is gone.
  var connection: Descriptor? { neighbour?.connection }

  /// After how many milliseconds to look again, should nothing happen before.
  var pause: Int32? { looks.flatMap(PeerRing.pause(afterLooks:)) }

  /// Finds who died before this session came, and takes its place among those that live.
  mutating func join() {
    lookForDead()
    ringHasChanged()
  }

  /// Somebody may have died.
  mutating func look() {
    looks = -1
    lookAgain()
  }

  /// The last look may have been too early: of a process that ends, the connections may close before the lock does.
  mutating func lookAgain() {
    looks? += 1
    if pause == nil { looks = nil }
    lookForDead()
    findNeighbour()
  }

  /// Somebody came, or left in order.
  mutating func ringHasChanged() {
    if !findNeighbour() { looks = 0 }
  }

  /// The connection to the neighbour has something to say.
  mutating func hearNeighbour() {
    guard let connection = neighbour?.connection else { return }
    let hasLeft = Farewell.wasSaid(on: connection)
    neighbour = nil
    if hasLeft { ringHasChanged() } else { look() }
  }

  /// Ends the watch, so that nobody takes its end for a death.
  mutating func leave() { watch(nil) }

  private mutating func watch(_ next: (name: String, connection: Descriptor)?) {
    if let neighbour { Farewell.say(on: neighbour.connection) }
    neighbour = next
  }

  private mutating func lookForDead() {
    let names = folder.sessions()
    reported.formIntersection(names)
    for name in names where name != ring.own { reportIfDead(name) }
  }

  /// Connects with the neighbour, if it isn't yet: with the next that can be reached. False if somebody was passed
  /// over who seems to live.
  @discardableResult
  private mutating func findNeighbour() -> Bool {
    var hasMissed = false
    for name in ring.others(among: folder.sessions()) where !reported.contains(name) {
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

  /// Whether somebody holds its lock.
  @discardableResult
  private mutating func reportIfDead(_ name: String) -> Bool {
    switch folder.standing(of: name) {
    case .alive: return true
    case .unknown: return false
    case .dead(let lock):
      lock.letGo()
      if reported.insert(name).inserted { onDeath(name) }
      return false
    }
  }
}

/// What is said on a connection between two sessions, and only as it is closed in order. One that ends without it has
/// lost its process.
enum Farewell {
  static func say(on connection: Descriptor) { UnixSocket.send(0, on: connection) }

  static func wasSaid(on connection: Descriptor) -> Bool { UnixSocket.receive(from: connection) != nil }
}
