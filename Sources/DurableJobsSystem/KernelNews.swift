#if os(Linux)
  import Dispatch
  import DurableJobs
  import Glibc

  /// Values that may have changed whenever the kernel multicasts a message. Messages are not parsed: each one causes a
  /// new read. Nothing is requested from the kernel, and nothing wakes up in between.
  enum KernelNews {
    /// How often to read the value where the kernel sends nothing, as in a sandbox without such sockets.
    private static let interval = Duration.seconds(15)

    /// The current value, then each different one. `family` and `groups` are those of `AF_NETLINK`.
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
        // The socket already receives, so nothing is missed in between.
        queue.async(execute: look)
      }
    }

    /// `sockaddr_nl`, which the C library's headers lack.
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

    /// Some messages may have been lost, which does not matter.
    private static func drain(_ socket: Int32) {
      withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
        while recv(socket, buffer.baseAddress, buffer.count, 0) >= 0 || errno == EINTR || errno == ENOBUFS {}
      }
    }
  }
#endif
