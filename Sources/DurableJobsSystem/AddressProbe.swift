import DurableJobs
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Monitors whether an address answers: for `JobConstraint.network` where ``NetworkMonitor`` is not enough, as behind a
/// captive portal, or where everything depends on one server.
///
///     worker.provide(.network, AddressProbe(host: "api.example.org", port: 443))
///
/// It opens and closes a TCP connection, now and then at each interval, without sending anything. That costs a
/// connection per interval while the monitor is in use.
public struct AddressProbe: ConstraintMonitor {
  private let host: String
  private let port: UInt16
  private let interval: Duration
  private let patience: Duration

  /// `host` is a name or an IPv4 or IPv6 address. `every` is the time between probes, by default 30 s. `within` is how
  /// long the address may take to answer, by default 5 s; looking up a name may take longer.
  public init(
    host: String, port: UInt16, every interval: Duration = .seconds(30), within patience: Duration = .seconds(5)
  ) {
    self.host = host
    self.port = port
    self.interval = interval
    self.patience = patience
  }

  public func changes() -> some AsyncSequence<Bool, Never> {
    AsyncStream(Polling(interval) { await answers() })
  }

  /// Runs on a thread of its own, since looking up a name may take long.
  private func answers() async -> Bool {
    await withCheckedContinuation { continuation in
      // Without a thread to be had, it is asked again after the next interval.
      if SystemThread.start({ continuation.resume(returning: isReached) }) != 0 {
        continuation.resume(returning: false)
      }
    }
  }

  private var isReached: Bool {
    var hints = addrinfo()
    #if canImport(Darwin)
      hints.ai_socktype = SOCK_STREAM
    #else
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &first) == 0 else { return false }
    defer { freeaddrinfo(first) }
    let end = ContinuousClock.now + patience
    return sequence(first: first, next: { $0?.pointee.ai_next }).prefix { $0 != nil }.contains { address in
      address.map { Self.connects(to: $0.pointee, until: end) } ?? false
    }
  }

  private static func connects(to address: addrinfo, until end: ContinuousClock.Instant) -> Bool {
    let connection = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
    guard connection >= 0 else { return false }
    defer { close(connection) }
    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
    _ = fcntl(connection, F_SETFL, O_NONBLOCK)
    if connect(connection, address.ai_addr, address.ai_addrlen) == 0 { return true }
    guard errno == EINPROGRESS else { return false }
    var answer = pollfd(fd: connection, events: Int16(POLLOUT), revents: 0)
    while true {
      let left = max(ContinuousClock.now.duration(to: end) / .milliseconds(1), 0)
      let count = poll(&answer, 1, Int32(min(left, 1_000_000)))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      var error: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
    }
  }
}
