import DurableJobs
import Foundation

/// The folder through which the processes that have a database open notice each other.
///
/// It is private to the user and lies beside the database as `<database>-durable`. If the paths of sockets in it would
/// be too long for the system, it lies in the temporary folder, named after the database's device and inode, so that
/// all processes find the same one. Where they would be too long there as well, as in an iOS app's container, it lies
/// beside the database without sockets: then processes see by their locks who lives, and find the rest by their sweeps.
package struct MeetingFolder: Sendable {
  package let path: String
  package let postbox: Postbox

  /// Finds or creates the folder of an existing database. `temporaryFolder` is one that is the same for all processes of
  /// the user, with a slash at its end.
  ///
  /// Throws ``JobError/Code/unusableFile`` if there is no such file, or the folder can't be created or is not private.
  package init(databasePath: String, temporaryFolder: String? = nil) throws {
    try self.init(of: databasePath, temporaryFolder: temporaryFolder)
    try make()
  }

  /// The same, and creates nothing.
  package init(of databasePath: String, temporaryFolder: String? = nil) throws {
    guard let resolved = resolvedPath(databasePath), let file = FileStat(resolved)?.key else {
      throw JobError(
        .unusableFile, "There is no database at \(databasePath) (\(SystemError.words())). Create it first."
      )
    }
    let beside = resolved + "-durable"
    let name = "durable-\(geteuid())-\(String(file.device, radix: 16))-\(String(file.file, radix: 16))"
    let elsewhere = (temporaryFolder ?? Self.temporaryFolder) + name
    path = [beside, elsewhere].first(where: SessionFile.canBeSockets(in:)) ?? beside
    postbox = Postbox(folder: path)
  }

  package enum Standing: Sendable {
    /// Its process has ended. No one else can find that out until the caller releases the lock it now holds.
    case dead(DeadSession)
    /// Its lock is held: by itself, or by a process that found it dead and is cleaning up.
    case alive
    /// It has no lock file, which proves nothing: it may have left, been cleaned up, or be on another machine.
    case unknown
  }

  package func standing(of session: String) -> Standing {
    let lockPath = SessionFile.lock.path(of: session, in: path)
    guard let file = FileLock.file(at: lockPath) else { return .unknown }
    guard FileLock.take(file) else { return errno == EWOULDBLOCK ? .alive : .unknown }
    // It may have left, or been cleaned up, since the file was opened.
    guard FileLock.isFile(file, at: lockPath) else { return .unknown }
    return .dead(DeadSession(folder: path, session: session, file: file))
  }

  /// All current sessions, including dead ones that were not cleaned up.
  func sessions() -> [String] { files().compactMap(SessionFile.lock.session(ofFile:)) }

  /// The lock files of the processes that work on the database or listen to it, and live, if only stopped.
  package var heldLocks: [String] {
    sessions().filter { if case .alive = standing(of: $0) { true } else { false } }
      .map { SessionFile.lock.path(of: $0, in: path) }
  }

  func files() -> [String] { Self.files(in: path) }

  static func files(in path: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

  /// A folder that is the same for all processes of a user, whatever their environments are.
  private static var temporaryFolder: String {
    #if canImport(Darwin)
      var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = confstr(_CS_DARWIN_USER_TEMP_DIR, &bytes, bytes.count)
      if count > 1, count <= bytes.count { return String(decoding: bytes.prefix(count - 1), as: UTF8.self) }
    #endif
    return "/tmp/"
  }

  /// Creates the folder if it is not there, private to the user.
  func make() throws {
    // Only the creator of the folder may correct the mode after the umask; an existing folder is judged as it is.
    if mkdir(path, 0o700) == 0 { chmod(path, 0o700) }
    let error = errno
    var folder = stat()
    let isThere = lstat(path, &folder) == 0
    func require(_ holds: Bool, _ words: String) throws { try DurableJobs.require(holds, words, code: .unusableFile) }
    try require(
      isThere, "The folder \(path) can't be made (\(SystemError.words(error))). Make its parent folder writable.")
    let isFolder = folder.st_mode & S_IFMT == S_IFDIR
    try require(isFolder, "\(path) is in the way of a folder of that name. Move it elsewhere.")
    try require(
      folder.st_uid == geteuid(),
      "The folder \(path) belongs to user \(folder.st_uid), and this process runs as \(geteuid()). "
        + "Run as that user, or have the folder removed while nobody has the database open.")
    let isPrivate = folder.st_mode & 0o777 == 0o700
    try require(isPrivate, "The folder \(path) must be private to its user. Run: chmod 700 '\(path)'")
  }
}

/// A dead session, whose lock this process has as long as it has this, so that only one at a time cleans up after it.
package struct DeadSession: Sendable {
  let folder: String
  let session: String
  let file: Descriptor

  /// Removes the dead session's files from the folder.
  package func bury() {
    // The lock file goes last: as long as it exists, another process can finish an interrupted cleanup.
    for kind in SessionFile.allCases.reversed() { unlink(kind.path(of: session, in: folder)) }
  }
}
