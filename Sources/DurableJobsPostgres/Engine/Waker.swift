#if Postgres
  import Foundation

  /// Ends the wait of a thread that polls descriptors. No program that is started meanwhile gets it.
  final class Waker: Sendable {
    /// Readable once ``wake()`` was called, until ``clear()`` is.
    let descriptor: Int32
    private let writing: Int32

    /// Nil if this process may have no more descriptors.
    init?() {
      var ends: [Int32] = [-1, -1]
      #if os(Linux)
        let type = Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
      #else
        guard socketpair(AF_UNIX, SOCK_STREAM, 0, &ends) == 0 else { return nil }
        for end in ends {
          _ = fcntl(end, F_SETFD, FD_CLOEXEC)
          _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
      #endif
      (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
      close(descriptor)
      close(writing)
    }

    func wake() {
      var byte: UInt8 = 0
      _ = write(writing, &byte, 1)
    }

    func clear() {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
  }
#endif
