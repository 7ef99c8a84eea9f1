import DurableJobs
import Foundation

/// The files of a session in the folder, in the order in which they go when it leaves.
enum SessionFile: String, CaseIterable {
  /// Locked for as long as the session lives. Who finds this file by its name finds it locked, or its session dead.
  case lock
  /// Where messages arrive: a datagram socket.
  case mail = "sock"
  /// Where the peer that watches this one connects: a stream socket on which nothing is said but a farewell.
  case life
  /// The lock file before all else is there.
  case beginning = "new"

  func path(of session: String, in folder: String) -> String { "\(folder)/\(session).\(rawValue)" }

  /// The session that a file of this kind belongs to.
  func session(ofFile name: String) -> String? {
    name.hasSuffix("." + rawValue) ? String(name.dropLast(rawValue.utf8.count + 1)) : nil
  }
}

/// What makes a session visible to others, for as long as this value lives and was not withdrawn.
final class SessionFiles: Sendable {
  let name: String
  let mail: Descriptor
  let life: Descriptor
  private let lock: Descriptor
  private let folder: String
  private let process = getpid()

  init(in folder: String) throws {
    let (name, lock) = try Self.lockedName(in: folder)
    self.folder = folder
    self.name = name
    self.lock = lock
    guard let mail = UnixSocket.bound(.datagram, to: SessionFile.mail.path(of: name, in: folder)),
      let life = UnixSocket.bound(.stream, to: SessionFile.life.path(of: name, in: folder)),
      rename(SessionFile.beginning.path(of: name, in: folder), SessionFile.lock.path(of: name, in: folder)) == 0
    else {
      let reason = SystemError.words()
      for kind in SessionFile.allCases { unlink(kind.path(of: name, in: folder)) }
      throw JobError(
        .unusableFile,
        "The folder \(folder) can't hold sockets (\(reason)). Keep the database on a local disk that can.")
    }
    self.mail = mail
    self.life = life
  }

  /// False in a child that the session's process forked: nothing of it is there, and the files are the parent's.
  var areOwn: Bool { getpid() == process }

  /// Makes the session invisible. Its lock stays held for as long as this value lives.
  func withdraw() {
    guard areOwn else { return }
    for kind in SessionFile.allCases { unlink(kind.path(of: name, in: folder)) }
  }

  /// Has everybody find the session dead, as if its process had ended: nobody holds its lock, which stays, and nobody can
  /// connect with it any more.
  func abandon() {
    guard areOwn else { return }
    unlink(SessionFile.life.path(of: name, in: folder))
    FileLock.giveBack(lock)
  }

  /// A name that nobody has, with its lock held. Whoever tidies may take the new file for a remnant until it is
  /// locked; then the next name is tried.
  private static func lockedName(in folder: String) throws -> (String, Descriptor) {
    for _ in 0..<100 {
      let digits = String(UInt32.random(in: .min ... .max), radix: 16)
      let name = String(repeating: "0", count: 8 - digits.count) + digits
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

  /// Removes what processes that died while they came or left have left behind.
  static func removeRemains(in folder: MeetingFolder) {
    let files = folder.files()
    for file in files {
      if let name = SessionFile.beginning.session(ofFile: file) {
        let path = SessionFile.beginning.path(of: name, in: folder.path)
        guard let begun = FileLock.file(at: path), FileLock.take(begun) else { continue }
        withExtendedLifetime(begun) {
          if FileLock.isFile(begun, at: path) { unlink(path) }
        }
      }
    }
    for file in files {
      guard let name = SessionFile.mail.session(ofFile: file) ?? SessionFile.life.session(ofFile: file) else {
        continue
      }
      // A session has the one or the other lock file before it has sockets; this order can't miss it as it is renamed.
      let isOwned = [SessionFile.beginning, .lock].contains { access($0.path(of: name, in: folder.path), F_OK) == 0 }
      if !isOwned { unlink(folder.path + "/" + file) }
    }
  }
}
