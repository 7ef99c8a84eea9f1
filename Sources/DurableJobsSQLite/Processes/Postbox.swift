import DurableJobs
import Foundation

/// Sends datagrams to the sessions of a folder, whose names it caches rather than reading the folder each time.
package final class Postbox: Sendable {
  private struct State {
    var socket: Descriptor?
    var sessions: [String] = []
    var listing: Modification?
  }

  private let folder: String
  private let state = Lock(State())

  init(folder: String) { self.folder = folder }

  /// Signals a change to all sessions except one's own. Never waits; sessions that can't be reached are skipped.
  package func post(_ change: ForeignChange, except own: String?) {
    state.withLock { state in
      for session in sessions(&state) where session != own { _ = send(change, to: session, &state) }
    }
  }

  /// Signals a change to one session, and returns whether that was sent. Never waits.
  @discardableResult
  package func post(_ change: ForeignChange, to session: String) -> Bool {
    state.withLock { send(change, to: session, &$0) }
  }

  /// Who has the database open, or died with it open and was not buried.
  var sessions: [String] { state.withLock { sessions(&$0) } }

  private func send(_ change: ForeignChange, to session: String, _ state: inout State) -> Bool {
    let path = SessionFile.mail.path(of: session, in: folder)
    if let socket = state.socket {
      if UnixSocket.send(change.rawValue, from: socket, to: path) { return true }
      // Gone, dead or refused: whoever watches that session learns it in a more reliable way.
      guard errno == EAGAIN || errno == ENOBUFS else { return false }
    }
    // Either the receiver's buffer is full, and it is awake already, or unread messages to stopped receivers use up
    // this sender's share of memory, which would keep messages from everyone. A new socket has a new share.
    guard let socket = UnixSocket.open(UnixSocket.datagram) else { return false }
    state.socket = socket
    return UnixSocket.send(change.rawValue, from: socket, to: path)
  }

  private func sessions(_ state: inout State) -> [String] {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let found = FileStat(folder)?.modified
    if found == nil || found != state.listing {
      state.sessions = MeetingFolder.files(in: folder).compactMap(SessionFile.lock.session(ofFile:))
      state.listing = found?.isSettled(at: now) == true ? found : nil
    }
    return state.sessions
  }
}
