#if os(Linux)
  import Dispatch
  import DurableJobs
  import Glibc

  /// Values that may have changed whenever the kernel multicasts something. What it says is not read: who hears of it looks
  /// for itself. Nothing is asked of the kernel, and nobody wakes up in between.
  enum KernelNews {
    /// How often to look where the kernel tells nothing, as in a sandbox without such sockets.
    private static let interval = Duration.seconds(15)

    /// `family` and `groups` as for `AF_NETLINK`. The value now, and each that is another.
    static func changes(
      family: Int32, groups: UInt32, _ read: @escaping @Sendable () -> Bool
    ) -> AsyncStream<Bool> {
      guard let socket = socket(family: family, groups: groups) else { return AsyncStream(Polling(interval, read)) }
      return AsyncStream { continuation in
        let queue = DispatchQueue(label: "durable-kernel-news")
        let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        let held = Lock<(any DispatchSourceRead)?>(source)
        let last = Lock<Bool?>(nil)
        let look: @Sendable () -> Void = {
          let value = read()
          if last.withLock({ last in
            defer { last = value }
            return last != value
          }) {
            continuation.yield(value)
          }
        }
        source.setEventHandler {
          drain(socket)
          look()
        }
        source.setCancelHandler { close(socket) }
        continuation.onTermination = { _ in
          held.withLock { source in
            source?.cancel()
            source = nil
          }
        }
        source.activate()
        // The socket hears already, so nothing is missed in between.
        queue.async(execute: look)
      }
    }

    /// As `sockaddr_nl`, which the C library's headers do not have.
    private struct Address {
      var family = UInt16(AF_NETLINK)
      var padding: UInt16 = 0
      var port: UInt32 = 0
      var groups: UInt32
    }

    private static func socket(family: Int32, groups: UInt32) -> Int32? {
      let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      let socket = Glibc.socket(AF_NETLINK, kind, family)
      guard socket >= 0 else { return nil }
      var address = Address(groups: groups)
      let length = socklen_t(MemoryLayout<Address>.size)
      let isBound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) == 0 }
      }
      if isBound { return socket }
      close(socket)
      return nil
    }

    /// Some may have been lost on the way, which is no matter.
    private static func drain(_ socket: Int32) {
      withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
        while recv(socket, buffer.baseAddress, buffer.count, 0) >= 0 || errno == EINTR || errno == ENOBUFS {}
      }
    }
  }
#endif
