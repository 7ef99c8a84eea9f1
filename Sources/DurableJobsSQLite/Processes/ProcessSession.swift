import DurableJobs
import Foundation

/// This process as seen by the others that have the same database open: where they send signals, and a lock and
/// connections by which they notice within a second that it ended. Its thread sleeps until a datagram or a connection is
/// readable, as one joins, leaves or posts.
///
/// A session that died in the folder, at any time, is reported once by each session that notices.
/// Its lock (``MeetingFolder/standing(of:)``) decides which of them cleans up. Whoever opened it must close it.
package final class ProcessSession: Sendable {
  package enum End: Sendable {
    /// The others see no death.
    case inOrder
    /// The others find it dead at once, because something stored under its name could not be removed.
    case asDead
  }

  private let folder: MeetingFolder
  let files: SessionFiles
  private let onSignal: @Sendable (ForeignChange) -> Void
  private let onDeath: @Sendable (String) -> Void
  /// Two connected sockets: shutting down `bell` makes `ear` permanently readable.
  private let bell: Descriptor
  private let ear: Descriptor
  private let thread = Lock<ObjectIdentifier?>(nil)
  private let end = Lock<End?>(nil)
  private let ended = DispatchGroup()

  /// Joins the folder. The session is visible to others when this returns, so look for work after it, not before.
  ///
  /// Both callbacks run on the session's own thread. While one runs, the session neither receives nor watches.
  /// - Parameters:
  ///   - onSignal: Called with changes that others signalled, merged if they arrive together.
  ///   - onDeath: Called with a session whose process ended without closing it.
  package init(
    folder: MeetingFolder, onSignal: @escaping @Sendable (ForeignChange) -> Void,
    onDeath: @escaping @Sendable (String) -> Void
  ) throws {
    try folder.make()  // somebody may have tidied it away
    (bell, ear) = try UnixSocket.pair()
    files = try SessionFiles(in: folder.path)
    (self.folder, self.onSignal, self.onDeath) = (folder, onSignal, onDeath)
    // The session before this one in the ring must watch it from now on.
    folder.postbox.post([], except: files.name)
    ended.enter()
    let thread = Thread { [self] in
      self.thread.withLock { $0 = ObjectIdentifier(Thread.current) }
      listen()
      ended.leave()
    }
    thread.name = "durable-peers"
    thread.start()
  }

  /// Eight hexadecimal digits, unique in the folder.
  package var name: String { files.name }

  /// Leaves. No callback runs after this returns, unless it is called by one, so do not hold anything that a callback
  /// waits for. A second call does nothing.
  package func close(_ way: End = .inOrder) {
    guard files.areOwn else { return }
    let isFirst = end.withLock { end in
      defer { end = end ?? way }
      return end == nil
    }
    if isFirst {
      // Files before connections: whoever sees a connection end must find out who died, or that no one did.
      way == .inOrder ? files.withdraw() : files.abandon()
      shutdown(bell.number, Int32(SHUT_RDWR))
    }
    if thread.withLock({ $0 }) != ObjectIdentifier(Thread.current) { ended.wait() }
  }

  private var isOpen: Bool { end.withLock { $0 == nil } }

  private func listen() {
    var peers = PeerWatch(folder: folder, own: files.name) { [self] in if isOpen { onDeath($0) } }
    defer {
      if end.withLock({ $0 == .asDead }) {
        // A pending connection would last as long as this process; accepted, it now ends without a farewell.
        if let life = files.life { peers.accept(from: life) }
      } else {
        peers.leave()
      }
    }
    SessionFiles.removeRemains(in: folder)
    peers.join()
    while isOpen {
      // poll ignores a negative number.
      let sockets: [Descriptor?] =
        [ear, files.mail, peers.connection, peers.isFull ? nil : files.life] + peers.watchers
      var waiting = sockets.map { pollfd(fd: $0?.number ?? -1, events: Int16(POLLIN), revents: 0) }
      let count = poll(&waiting, nfds_t(waiting.count), peers.pause ?? -1)
      if count < 0 { continue }
      guard isOpen else { return }
      if count == 0 { peers.lookAgain() }
      let isReady = waiting.map { $0.revents != 0 }
      if isReady[2] { peers.hearNeighbour() }
      peers.hearWatchers { isReady[4 + $0] }
      if isReady[3], let life = files.life { peers.accept(from: life) }
      if isReady[1], let socket = files.mail {
        let mail = readMail(from: socket)
        if mail.isFromNewcomer { peers.ringHasChanged() }
        if !mail.changes.isEmpty, isOpen { onSignal(mail.changes) }
      }
    }
  }

  private func readMail(from socket: Descriptor) -> (changes: ForeignChange, isFromNewcomer: Bool) {
    var changes: ForeignChange = []
    var isFromNewcomer = false
    var count = 0
    while count < 64, let byte = UnixSocket.receive(from: socket) {
      changes.formUnion(ForeignChange(rawValue: byte))
      isFromNewcomer = isFromNewcomer || byte == 0
      count += 1
    }
    // The buffer may have been full and messages lost. Every system holds at least ten.
    return count < 10 ? (changes, isFromNewcomer) : (changes.union([.all, .doubt]), true)
  }
}
