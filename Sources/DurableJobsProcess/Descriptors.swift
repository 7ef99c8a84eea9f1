#if Process
  import DurableJobs
  import Foundation

  /// Pairs of descriptors that programs inherit only if they are meant to.
  package enum Descriptors {
    /// A program started without standard input or one of its outputs would mistake its first own files for them.
    static func openStandard() {
      for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 {
        // Writing to an output that is closed fails, as it would have.
        _ = open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY)
      }
    }

    /// Closes all above `last`, by default all but the standard ones: whatever the parent program has left open.
    package static func closeOthers(above last: Int32 = 2) {
      #if os(Linux)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for file in names.compactMap({ Int32($0) }) where file > last { close(file) }
      #endif
    }

    /// A program that another thread starts at this very moment may inherit the ends: a supervisor has one thread only.
    package static func pipe() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [-1, -1]
      guard Foundation.pipe(&ends) == 0 else { throw Refusal("can't make a pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return (ends[0], ends[1])
    }

    /// Takes the lock of a file for this process and those that inherit it. False if another holds it. A process that
    /// only checks that shares the lock for a moment, and blocks nobody. Throws if the file, of this path, can't be locked.
    package static func lock(_ file: Int32, _ path: String) throws -> Bool {
      for _ in 0..<10_000 {
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw Refusal(noLock: path) }
        // If it can be shared, nobody holds it exclusively.
        guard flock(file, LOCK_SH | LOCK_NB) == 0 else { return false }
        flock(file, LOCK_UN)
        usleep(500)
      }
      return false
    }

    /// What is ready to be read at a non-blocking descriptor.
    static func rest(of file: Int32) -> Data {
      var data = Data()
      var bytes = [UInt8](repeating: 0, count: 16 * 1024)
      while true {
        let count = read(file, &bytes, bytes.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return data }
        data += bytes.prefix(count)
      }
    }

    /// Two connected sockets that hold 64 KB of unread data. If the system allows, not even a program that another
    /// thread starts at this moment inherits them; and writing to them raises no SIGPIPE.
    static func connected() throws -> (Int32, Int32) {
      var ends: [Int32] = [-1, -1]
      #if canImport(Darwin)
        guard socketpair(AF_UNIX, SOCK_STREAM, 0, &ends) == 0 else { throw Refusal("can't make a pair of sockets") }
        var isOn: Int32 = 1
        for end in ends {
          _ = fcntl(end, F_SETFD, FD_CLOEXEC)
          setsockopt(end, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        }
      #else
        let type = Int32(SOCK_STREAM.rawValue) | O_CLOEXEC
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Refusal("can't make a pair of sockets") }
      #endif
      var size: Int32 = 128 * 1024
      for end in ends {
        for option in [SO_SNDBUF, SO_RCVBUF] {
          setsockopt(end, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
        }
      }
      return (ends[0], ends[1])
    }

    /// Writes all of it to a socket. False if nobody reads it any more.
    static func send(_ data: Data, to socket: Int32) -> Bool {
      #if canImport(Darwin)
        let flags: Int32 = 0
      #else
        let flags = Int32(MSG_NOSIGNAL)
      #endif
      return data.withUnsafeBytes { bytes in
        all(bytes) { Foundation.send(socket, $0.baseAddress, $0.count, flags) } == bytes.count
      }
    }

    /// Returns how many of the bytes could be written.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int {
      all(bytes) { Foundation.write(file, $0.baseAddress, $0.count) }
    }

    private static func all(_ bytes: UnsafeRawBufferPointer, _ act: (UnsafeRawBufferPointer) -> Int) -> Int {
      var done = 0
      while done < bytes.count {
        let count = act(UnsafeRawBufferPointer(rebasing: bytes[done...]))
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        done += count
      }
      return done
    }
  }
#endif
