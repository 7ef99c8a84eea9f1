#if HTTP
  import DurableJobs
  import Foundation

  /// A file that each attempt reads again: passwords, headers or certificates.
  enum AttemptFile {
    /// Throws `refusal` for an unreadable file, and ``DownloadError/Code/noRoom`` for a temporary lack of resources.
    static func read(_ path: String, orThrow refusal: DownloadError) throws -> Data {
      let file = Descriptor(opened(path))
      guard file.number >= 0 else { throw failure(errno, path) ?? refusal }
      // A pipe may have nobody who writes, and an attempt would wait for them whatever it is told.
      var status = stat()
      guard fstat(file.number, &status) == 0, [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT) else {
        throw refusal
      }
      var data = Data()
      while true {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = Foundation.read(file.number, &piece, piece.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw failure(errno, path) ?? refusal }
        data += piece.prefix(count)
        if count == 0 { return data }
        guard data.count < 1 << 26 else { throw refusal }
      }
    }

    private static func opened(_ path: String) -> Int32 {
      while true {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if number >= 0 || errno != EINTR { return number }
      }
    }

    /// Nil if the cause is the file itself.
    static func failure(_ number: Int32, _ path: String) -> DownloadError? {
      guard SystemLack.isOfOpenFiles(number) || SystemLack.isAbsence(number) else { return nil }
      return DownloadError(.noRoom, "can't read \(path) for now: \(SystemError.words(number))")
    }
  }
#endif
