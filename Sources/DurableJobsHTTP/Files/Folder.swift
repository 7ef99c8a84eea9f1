#if HTTP
  import DurableJobs
  import DurableJobsSystem
  import Foundation

  /// The folder for downloaded files. Everything in it is accessed through its descriptor by a single component,
  /// without following symbolic links, so that nothing can lead outside.
  struct Folder: Sendable {
    let path: String
    private let descriptor: Descriptor
    private let owner: UInt32
    /// The number of its file system, while that is mounted.
    let device: UInt64
    /// Whether everyone may write to it.
    private let isPublic: Bool
    let flushes: FolderFlush
    private let flushFile: @Sendable (Descriptor, _ path: String) throws -> Void
    private let lockFile: @Sendable (Int32) -> Int32

    /// `flushing` flushes a file to disk; `locking` is `flock`.
    init(
      path: String, flushing: @escaping @Sendable (Descriptor, _ path: String) throws -> Void = { try $0.flush($1) },
      locking: @escaping @Sendable (Int32) -> Int32 = { flock($0, LOCK_EX | LOCK_NB) }
    ) throws {
      self.path = path
      flushFile = flushing
      lockFile = locking
      let number = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard number >= 0 else {
        throw switch errno {
        case ENOENT: DownloadError(.unusableFolder, "there is no folder \(path); make it, or choose another")
        case EACCES:
          DownloadError(
            .unusableFolder, "the folder \(path) can't be opened; reading it must be allowed too, as with chmod u+rwx")
        case ENOTDIR: DownloadError(.unusableFolder, "\(path) is no folder; choose another")
        default: DownloadError.disk("open the folder", path)
        }
      }
      descriptor = Descriptor(number)
      let status = try FileStatus(of: descriptor, path)
      device = status.device
      owner = status.owner
      isPublic = status.isWritableByAll
      flushes = FolderFlush.of(descriptor, status)
    }

    func path(of name: String) -> String { path == "/" ? "/" + name : path + "/" + name }

    /// Throws if its path no longer leads to it, since a file in it would then not be where it is reported.
    func checkPlace() throws {
      var (own, found) = (stat(), stat())
      guard fstat(descriptor.number, &own) == 0, stat(path, &found) == 0, own.st_dev == found.st_dev,
        own.st_ino == found.st_ino
      else {
        throw DownloadError(
          .unusableFolder, "the folder \(path) was moved or removed while the file came; what came is still in it")
      }
    }

    /// Ensures that a name is a single component, since anything else could lead out of the folder.
    private func check(_ name: String) throws {
      guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
      else { throw DownloadError(.invalidDownload, "'\(name)' can't be the name of a file") }
    }

    /// Nil if there is none. Throws for what is no plain file, has other names by which it would be written to, or belongs to
    /// neither this user nor the folder's: who put it there could say anything by it, and change it later. `ofAnybody` lets
    /// that pass. One that is made has the permissions `mode`, less what the umask takes.
    func open(_ name: String, _ flags: Int32, mode: Int = 0o666, ofAnybody: Bool = false) throws -> Descriptor? {
      try check(name)
      let number = openat(descriptor.number, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode_t(mode))
      guard number >= 0 else {
        switch errno {
        case ENOENT where flags & O_CREAT == 0, EEXIST: return nil
        case ELOOP: throw DownloadError(.fileExists, "\(path(of: name)) is a symbolic link; remove it")
        case EISDIR, ENXIO: throw DownloadError(.fileExists, "\(path(of: name)) is no plain file; remove it")
        case EACCES, EROFS, EPERM:
          throw DownloadError(
            .unusableFolder,
            "can't \(flags & O_ACCMODE == O_RDONLY ? "read" : "write to") \(path(of: name)): \(SystemError.words())")
        default: throw DownloadError.disk("open", path(of: name))
        }
      }
      let file = Descriptor(number)
      let status = try FileStatus(of: file, path(of: name))
      // Somebody has removed it meanwhile.
      if status.links == 0 { return nil }
      guard status.isRegular, status.links == 1 || flags & O_ACCMODE == O_RDONLY else {
        throw DownloadError(.fileExists, "\(path(of: name)) is no plain file of one name; remove it")
      }
      guard ofAnybody || isOurs(status) else {
        throw DownloadError(
          .fileExists, "\(path(of: name)) belongs to another user; have it removed, or choose another folder")
      }
      return file
    }

    /// Whether it belongs to this user or the folder's owner.
    func isOurs(_ file: FileStatus) -> Bool { [geteuid(), owner].contains(file.owner) }

    /// Whether the file's attributes can be trusted. In a public folder, another user's file may claim any size and
    /// time, and change later.
    func isBelieved(_ file: FileStatus) -> Bool { !isPublic || isOurs(file) }

    /// Nil if nothing has that name. A symbolic link is not followed.
    func status(of name: String) -> FileStatus? {
      guard (try? check(name)) != nil else { return nil }
      var status = stat()
      return fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileStatus(status) : nil
    }

    /// The file of that name, made if there is none, and locked as long as this is kept; nil if somebody else has it, or gave
    /// it a second name. It is looked at again once it is locked: who had it before may have removed it.
    func lock(_ name: String, mode: Int = 0o666) throws -> Descriptor? {
      for _ in 0..<1000 {
        guard let file = try open(name, O_RDWR | O_CREAT, mode: mode) else { continue }
        guard file.locked(by: lockFile) == 0 else {
          if errno == EINTR { continue }
          if errno == EWOULDBLOCK { return nil }
          throw isWithoutLocks(name, file)
        }
        let status = try FileStatus(of: file, path(of: name))
        if self.status(of: name)?.inode == status.inode { return status.links == 1 ? file : nil }
      }
      throw DownloadError(.disk, "can't lock \(path(of: name)): something removes or replaces it again and again")
    }

    /// Without a lock, two processes could write to the same part unnoticed.
    private func isWithoutLocks(_ name: String, _ file: Descriptor) -> DownloadError {
      let words = SystemError.words()
      if (try? FileStatus(of: file, path(of: name)))?.size == 0 { remove(name) }
      return DownloadError(
        .unusableFolder,
        "can't lock \(path(of: name)): \(words); download into a folder on another disk, and move the file then")
    }

    /// Removes a name of a file that has another one, or that is not locked.
    func drop(_ name: String) {
      guard let links = status(of: name)?.links else { return }
      if links > 1 {
        remove(name)
      } else if let file = try? lock(name) {
        withExtendedLifetime(file) { remove(name) }
      }
    }

    /// The names that satisfy `condition`; empty if the folder can't be read.
    func names(where condition: (String) -> Bool) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter(condition)
    }

    /// The SHA-256 of a whole file; nil if there is none with that name.
    func checksum(of name: String) throws -> String? {
      guard let file = try open(name, O_RDONLY, ofAnybody: true) else { return nil }
      let size = try FileStatus(of: file, path(of: name)).size
      return try file.sha256(length: size, path(of: name)).finalize().hexadecimal
    }

    func remove(_ name: String) {
      guard (try? check(name)) != nil else { return }
      unlinkat(descriptor.number, name, 0)
    }

    /// Removes a name if it is that of `file`.
    func remove(_ name: String, ifIt file: Descriptor) {
      guard let own = try? FileStatus(of: file, path(of: name)), status(of: name)?.inode == own.inode else { return }
      remove(name)
    }

    enum Linking { case done, isTaken, isImpossible }

    /// Adds a second name to `old`, if the name is free and the file system supports it.
    func link(_ old: String, to new: String) throws -> Linking {
      try check(old)
      try check(new)
      if linkat(descriptor.number, old, descriptor.number, new, 0) == 0 { return .done }
      switch errno {
      case EEXIST:
        // A file server may have done it, but its answer was lost.
        guard let there = status(of: new), there.inode == status(of: old)?.inode else { return .isTaken }
        return .done
      case EPERM, ENOTSUP, EOPNOTSUPP, EMLINK, ENOSYS: return .isImpossible
      default: throw DownloadError.disk("name the file", path(of: new))
      }
    }

    /// Renames `old` to `new` atomically. Without `replacing`, returns false if the name is taken.
    func rename(_ old: String, to new: String, replacing: Bool) throws -> Bool {
      try check(old)
      try check(new)
      if !replacing {
        switch try link(old, to: new) {
        case .done:
          remove(old)
          return true
        case .isTaken: return false
        case .isImpossible:
          if let isDone = try renameToFree(old, to: new) { return isDone }
          // Where the file system supports neither, something may come between the two.
          if status(of: new) != nil { return false }
        }
      }
      guard renameat(descriptor.number, old, descriptor.number, new) == 0 else {
        throw DownloadError.disk("name the file", path(of: new))
      }
      return true
    }

    /// Renames without a second name in between: false if the name is taken, nil if the system or file system can't.
    func renameToFree(_ old: String, to new: String) throws -> Bool? {
      #if canImport(Darwin)
        let result = renameatx_np(descriptor.number, old, descriptor.number, new, UInt32(RENAME_EXCL))
      #else
        // Looked up at run time: not every C library has it, or exposes it to Swift.
        typealias Rename = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        guard let symbol = dlsym(nil, "renameat2") else { return nil }
        let isToBeFree: UInt32 = 1  // RENAME_NOREPLACE
        let result = unsafeBitCast(symbol, to: Rename.self)(
          descriptor.number, old, descriptor.number, new, isToBeFree)
      #endif
      if result == 0 { return true }
      switch errno {
      case EEXIST: return false
      case EINVAL, ENOSYS, ENOTSUP, EPERM: return nil
      default: throw DownloadError.disk("name the file", path(of: new))
      }
    }

    func flush(_ file: Descriptor, _ path: String) throws { try flushFile(file, path) }

    /// Throws if a file of that name can't be replaced here, as far as the system reveals without doing so.
    func checkReplacing(_ name: String) throws {
      // AT_REMOVEDIR never removes a file, but Linux at least checks the permission to remove it first.
      guard let status = status(of: name), !status.isFolder, unlinkat(descriptor.number, name, AT_REMOVEDIR) != 0,
        [EPERM, EACCES, EROFS].contains(errno)
      else { return }
      throw DownloadError(
        .fileExists,
        "\(path(of: name)) may not be replaced: \(SystemError.words()); choose another name, or another folder")
    }

    /// Makes new and removed names in the folder survive a power cut.
    func flush() throws {
      try flushes.flush {
        guard descriptor.flushesNames else { throw DownloadError.disk("flush", path) }
      }
    }

    var room: DiskRoom? { descriptor.room }
  }
#endif
