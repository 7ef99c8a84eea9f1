#if HTTP
  import Foundation

  /// What the file system knows of a file.
  struct FileStatus: Hashable {
    let isRegular: Bool
    let isFolder: Bool
    let size: Int64
    /// Nanoseconds since 1970.
    let modified: Int64
    /// When it last got other bytes, another name or another owner, likewise.
    let changed: Int64
    let inode: UInt64
    /// Of its file system.
    let device: UInt64
    let links: Int
    let owner: UInt32
    let group: UInt32
    /// Who may read, write and run it.
    let permissions: Int

    /// The same file with the same bytes, by all that is to be seen without reading them.
    func isAs(_ other: FileStatus) -> Bool {
      inode == other.inode && size == other.size && modified == other.modified
    }

    init(_ status: stat) {
      isRegular = status.st_mode & S_IFMT == S_IFREG
      isFolder = status.st_mode & S_IFMT == S_IFDIR
      size = Int64(status.st_size)
      #if canImport(Darwin)
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
      #else
        let (modified, changed) = (status.st_mtim, status.st_ctim)
      #endif
      self.modified = Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec)
      self.changed = Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec)
      inode = UInt64(status.st_ino)
      device = UInt64(truncatingIfNeeded: status.st_dev)
      links = Int(status.st_nlink)
      owner = status.st_uid
      group = status.st_gid
      permissions = Int(status.st_mode & 0o777)
    }

    var isWritableByAll: Bool { permissions & Int(S_IWOTH) != 0 }

    /// Nil if there is none.
    init?(ofFileAt path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }

    init(of file: Descriptor, _ path: String) throws {
      var status = stat()
      guard fstat(file.number, &status) == 0 else { throw DownloadError.disk("look at", path) }
      self.init(status)
    }
  }
#endif
