import DurableJobs
import Foundation

/// The files of a session in the folder, in the order in which they are removed when it leaves.
enum SessionFile: String, CaseIterable {
  /// Locked while the session lives: a process that finds this file finds it locked, or its session dead.
  case lock
  /// A datagram socket that receives messages.
  case mail = "sock"
  /// A stream socket to which the watching peer connects. Nothing is sent on it except a farewell.
  case life
  /// The lock file until all else is in place.
  case beginning = "new"

  func path(of session: String, in folder: String) -> String { "\(folder)/\(session).\(rawValue)" }

  /// Whether the paths of sockets in the folder are no longer than the system takes.
  static func canBeSockets(in folder: String) -> Bool {
    life.path(of: "00000000", in: folder).utf8.count <= UnixSocket.longestPath
  }

  /// The session to which a file of this kind belongs.
  func session(ofFile name: String) -> String? {
    name.hasSuffix("." + rawValue) ? String(name.dropLast(rawValue.utf8.count + 1)) : nil
  }
}

/// The files that make a session visible to others, as long as this value lives and was not withdrawn.
final class SessionFiles: Sendable {
  let name: String
  /// The sockets; nil where their paths would be too long.
  let mail: Descriptor?
  let life: Descriptor?
  private let lock: Descriptor
  private let folder: String
  private let process = getpid()

  init(in folder: String) throws {
    let (name, lock) = try Self.lockedName(in: folder)
    (self.folder, self.name, self.lock) = (folder, name, lock)
    let hasSockets = SessionFile.canBeSockets(in: folder)
    mail = hasSockets ? UnixSocket.bound(UnixSocket.datagram, to: SessionFile.mail.path(of: name, in: folder)) : nil
    life = mail == nil ? nil : UnixSocket.bound(UnixSocket.stream, to: SessionFile.life.path(of: name, in: folder))
    guard !hasSockets || life != nil,
      rename(SessionFile.beginning.path(of: name, in: folder), SessionFile.lock.path(of: name, in: folder)) == 0
    else {
      let reason = SystemError.words()
      for kind in SessionFile.allCases { unlink(kind.path(of: name, in: folder)) }
      throw JobError(
        .unusableFile,
        "The folder \(folder) can't hold sockets (\(reason)). Keep the database on a local disk that can.")
    }
  }

  /// False in a forked child of the session's process: the files belong to the parent.
  var areOwn: Bool { getpid() == process }

  /// Makes the session invisible. Its lock is held until this value is released.
  func withdraw() {
    guard areOwn else { return }
    for kind in SessionFile.allCases { unlink(kind.path(of: name, in: folder)) }
  }

  /// Makes others find the session dead, as if its process had ended: its lock is released but the file stays, and no
  /// one can connect to it any more.
  func abandon() {
    guard areOwn else { return }
    unlink(SessionFile.life.path(of: name, in: folder))
    FileLock.giveBack(lock)
  }

  /// An unused name, with its lock held. Who cleans up may remove the file before that; then the next name is tried.
  private static func lockedName(in folder: String) throws -> (String, Descriptor) {
    for _ in 0..<100 {
      let name = String(format: "%08x", UInt32.random(in: .min ... .max))
      let path = SessionFile.beginning.path(of: name, in: folder)
      guard let file = FileLock.file(at: path, creating: O_CREAT | O_EXCL) else {
        if errno == EEXIST { continue }
        break
      }
      if FileLock.take(file), FileLock.isFile(file, at: path),
        access(SessionFile.lock.path(of: name, in: folder), F_OK) != 0
      {
        return (name, file)
      }
      let error = errno
      if FileLock.isFile(file, at: path) { unlink(path) }
      errno = error
    }
    throw JobError(
      .unusableFile,
      "No lock can be held in \(folder) (\(SystemError.words())). It must be writable, on a local disk.")
  }

  /// Removes files left by processes that died while joining or leaving.
  static func removeRemains(in folder: MeetingFolder) {
    let files = folder.files()
    for name in files.compactMap({ SessionFile.beginning.session(ofFile: $0) }) {
      let path = SessionFile.beginning.path(of: name, in: folder.path)
      guard let begun = FileLock.file(at: path), FileLock.take(begun) else { continue }
      withExtendedLifetime(begun) { if FileLock.isFile(begun, at: path) { unlink(path) } }
    }
    for file in files {
      guard let name = SessionFile.mail.session(ofFile: file) ?? SessionFile.life.session(ofFile: file) else {
        continue
      }
      // A session always has one of the two lock files before its sockets; this order can't miss it during the rename.
      let isOwned = [SessionFile.beginning, .lock].contains { access($0.path(of: name, in: folder.path), F_OK) == 0 }
      if !isOwned { unlink(folder.path + "/" + file) }
    }
  }
}
