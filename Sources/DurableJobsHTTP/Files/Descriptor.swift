#if HTTP
  import DurableJobs
  import DurableJobsSystem
  import Foundation

  /// An open file or folder, closed with its last reference. `path` is for messages; errors are ``DownloadError``.
  package final class Descriptor: Sendable {
    let number: Int32
    /// What is not locked here may be locked by who opened it.
    private let isLocked = Lock(false)

    init(_ number: Int32) { self.number = number }

    /// A lock that it has is given back, too, if a process that is just being started has a copy.
    deinit {
      if isLocked.value { flock(number, LOCK_UN) }
      close(number)
    }

    /// What `lock` returns, which locks it as `flock` does.
    func locked(by lock: (Int32) -> Int32) -> Int32 {
      let result = lock(number)
      if result == 0 { isLocked.withLock { $0 = true } }
      return result
    }

    /// Of the file system that it is on; nil if that does not say.
    var room: DiskRoom? {
      var status = statvfs()
      return fstatvfs(number, &status) == 0 ? DiskRoom(status) : nil
    }

    /// Flushes what was written to the disk, with the file's size and times.
    func flush(_ path: String) throws {
      guard flushToDisk(number) == 0 else { throw DownloadError.disk("flush", path) }
    }

    /// Makes new names in that folder survive a power cut, where its file system can.
    package static func flush(folder path: String) {
      let folder = Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
      if folder.number >= 0 { fsync(folder.number) }
    }

    /// The SHA-256 of the first `length` bytes.
    func sha256(length: Int64, _ path: String) throws -> SHA256 {
      var sha256 = SHA256()
      var buffer = [UInt8](repeating: 0, count: Int(min(length, 1 << 20)))
      var offset: Int64 = 0
      while offset < length {
        try Task.checkCancellation()
        let count = buffer.withUnsafeMutableBytes {
          pread(number, $0.baseAddress, min($0.count, Int(length - offset)), off_t(offset))
        }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw DownloadError.disk("read", path) }
        guard count > 0 else { throw DownloadError.becameShorter(path) }
        buffer.withUnsafeBytes { sha256.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        offset += Int64(count)
      }
      return sha256
    }

    /// A digest of the last bytes before `end`, which must exist.
    func tail(before end: Int64, _ path: String) throws -> String {
      let count = min(end, 4096)
      return SHA256.hash(data: Data(try read(count, at: end - count, path))).prefix(4).hexadecimal
    }

    /// A few bytes, which must exist.
    func read(_ count: Int64, at begin: Int64, _ path: String) throws -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: Int(count))
      var count = 0
      repeat {
        count = bytes.withUnsafeMutableBytes { pread(number, $0.baseAddress, $0.count, off_t(begin)) }
      } while count < 0 && errno == EINTR
      guard count >= 0 else { throw DownloadError.disk("read", path) }
      guard count == bytes.count else { throw DownloadError.becameShorter(path) }
      return bytes
    }

    /// How many bytes the file has. Linux stamps a file whose status somebody has asked for anew with the next write, so that
    /// is not asked for with each.
    func size(_ path: String) throws -> Int64 {
      let end = lseek(number, 0, SEEK_END)
      guard end >= 0 else { throw DownloadError.disk("look at", path) }
      return Int64(end)
    }

    /// Returns the offset after the bytes.
    func write(_ bytes: UnsafeRawBufferPointer, at begin: Int64, _ path: String) throws -> Int64 {
      var rest = bytes
      while !rest.isEmpty {
        let count = pwrite(number, rest.baseAddress, rest.count, off_t(begin) + off_t(bytes.count - rest.count))
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw DownloadError.disk("write to", path) }
        guard count > 0 else { throw DownloadError(.disk, "can't write to \(path): it takes nothing more") }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
      return begin + Int64(bytes.count)
    }

    /// Appends all of it or nothing.
    func append(_ lines: Data, _ path: String) throws {
      let end = lseek(number, 0, SEEK_END)
      do {
        _ = try lines.withUnsafeBytes { try write($0, at: Int64(end), path) }
      } catch {
        // The next line must not continue one that was cut off.
        ftruncate(number, end)
        throw error
      }
    }

    func cut(to length: Int64, _ path: String) throws {
      guard ftruncate(number, off_t(length)) == 0 else { throw DownloadError.disk("cut", path) }
    }

    /// The whole of a small file.
    func read(_ path: String) throws -> Data {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      var data = Data()
      while data.count < 1 << 26 {
        let count = buffer.withUnsafeMutableBytes { pread(number, $0.baseAddress, $0.count, off_t(data.count)) }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw DownloadError.disk("read", path) }
        if count == 0 { break }
        data.append(contentsOf: buffer[..<count])
      }
      return data
    }

    /// Returns nil, or why the time can't be set: the file may be another user's, or the file system have no times.
    func set(modified: Date, _ path: String) throws -> String? {
      guard let seconds = Int(exactly: modified.timeIntervalSince1970.rounded(.down)) else { return nil }
      let time = timespec(tv_sec: seconds, tv_nsec: 0)
      guard futimens(number, [time, time]) != 0 else { return nil }
      let isImpossible = [EPERM, EACCES, EINVAL, ENOSYS, ENOTSUP].contains(errno)
      let error = DownloadError.disk("set the time of", path)
      guard isImpossible else { throw error }
      return error.message
    }
  }

  extension DownloadError {
    fileprivate static func becameShorter(_ path: String) -> DownloadError {
      DownloadError(.disk, "\(path) became shorter while it was read")
    }

    /// The error for what the operating system refused, from `errno`.
    static func disk(_ verb: String, _ path: String) -> DownloadError {
      let number = errno
      // No other attempt would fare better.
      guard ![ENAMETOOLONG, EROFS].contains(number) else {
        return DownloadError(
          .unusableFolder,
          "can't \(verb) \(path): \(SystemError.words(number)); choose another \(number == EROFS ? "folder" : "name")")
      }
      guard number != EFBIG else {
        return DownloadError(
          .unusableFolder,
          "can't \(verb) \(path): \(SystemError.words(number)); choose a folder on another disk, or raise the limit, as with "
            + "ulimit -f unlimited")
      }
      let isFull = SystemLack.isOfRoom(number)
      var error = DownloadError(
        isFull || SystemLack.isOfOpenFiles(number) ? .noRoom : .disk,
        "can't \(verb) \(path): \(SystemError.words(number))\(isFull ? "; free some space" : "")")
      error.isOfFullDisk = isFull
      return error
    }
  }

  /// What passes of the system's errors, by their numbers.
  enum SystemLack {
    static func isOfRoom(_ number: Int32) -> Bool { [ENOSPC, EDQUOT].contains(number) }
    static func isOfOpenFiles(_ number: Int32) -> Bool { [EMFILE, ENFILE].contains(number) }

    /// What has the file is not there for now, as a file server; or there is no memory.
    static func isAbsence(_ number: Int32) -> Bool {
      [EIO, ESTALE, ETIMEDOUT, ENOTCONN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, ENOMEM].contains(number)
    }
  }
#endif
