/// What one session knows of its peers, and the connection by which it notices that its neighbour is gone. Belongs to
/// the session's listener thread.
struct PeerWatch {
  private let folder: MeetingFolder
  private let ring: PeerRing
  private let onDeath: (String) -> Void
  private var neighbour: (name: String, connection: Descriptor)?
  private var reported: Set<String> = []
  private var doubtfulLooks = 0
  private var isInDoubt = false

  init(folder: MeetingFolder, own: String, onDeath: @escaping (String) -> Void) {
    self.folder = folder
    self.ring = PeerRing(own: own)
    self.onDeath = onDeath
  }

  /// Becomes readable when the neighbour is gone.
  var connection: Descriptor? { neighbour?.connection }

  /// After how many milliseconds to look again, should nothing happen before.
  var pause: Int32? { isInDoubt ? PeerRing.pause(afterLooks: doubtfulLooks) : nil }

  /// Forgets the connection to the neighbour, which was found closed.
  mutating func neighbourHasGone() { neighbour = nil }

  /// Looks for the dead in the whole folder.
  mutating func lookForDead() {
    let names = folder.sessions()
    reported.formIntersection(names)
    for name in names where name != ring.own { reportIfDead(name) }
  }

  /// Connects with the neighbour, if it isn't yet: with the next that lives.
  mutating func findNeighbour() {
    doubtfulLooks = 0
    goRound()
  }

  /// Looks again at who was neither reachable nor dead.
  mutating func lookAgain() {
    doubtfulLooks += 1
    goRound()
  }

  private mutating func goRound() {
    isInDoubt = false
    for name in ring.others(among: folder.sessions()) where !reported.contains(name) {
      if name == neighbour?.name { return }
      if let connection = UnixSocket.connected(to: SessionFile.life.path(of: name, in: folder.path)) {
        neighbour = (name, connection)
        return
      }
      isInDoubt = reportIfDead(name) || isInDoubt
    }
    neighbour = nil
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
