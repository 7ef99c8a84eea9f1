import DurableJobs

/// Monitors whether other machines can be reached, as the system sees it, for `JobConstraint.network`. Sends nothing.
///
/// On Linux this means a default route through an interface that is up and has a carrier; the kernel reports changes.
/// On Apple platforms it is the status of `NWPathMonitor`.
public struct NetworkMonitor: ConstraintMonitor {
  public init() {}
}

#if canImport(Network)
  import Dispatch
  import Network

  extension NetworkMonitor {
    public func changes() -> some AsyncSequence<Bool, Never> {
      AsyncStream { continuation in
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
        continuation.onTermination = { _ in monitor.cancel() }
        monitor.start(queue: DispatchQueue(label: "durable-network"))
      }
    }
  }
#else
  import Foundation
  import Glibc

  extension NetworkMonitor {
    public func changes() -> some AsyncSequence<Bool, Never> {
      // Links, and addresses and routes of both versions of IP.
      KernelNews.changes(family: 0, groups: 0x1 | 0x10 | 0x40 | 0x100 | 0x400) {
        DefaultRoutes(ipv4: Self.table("route"), ipv6: Self.table("ipv6_route")).interfaces.contains { Self.isUp($0) }
      }
    }

    private static func table(_ name: String) -> String {
      (try? String(contentsOfFile: "/proc/net/\(name)", encoding: .utf8)) ?? ""
    }

    private static func isUp(_ interface: String) -> Bool {
      var first: UnsafeMutablePointer<ifaddrs>?
      guard getifaddrs(&first) == 0 else { return false }
      defer { freeifaddrs(first) }
      let wanted = UInt32(IFF_UP | IFF_RUNNING)
      return sequence(first: first, next: { $0?.pointee.ifa_next }).prefix { $0 != nil }.contains { address in
        guard let address = address?.pointee, String(cString: address.ifa_name) == interface else { return false }
        return address.ifa_flags & wanted == wanted
      }
    }
  }

  /// The interfaces of default routes, from the kernel's routing tables.
  struct DefaultRoutes: Equatable {
    var interfaces: Set<String> = []

    private static let isUp = 0x1
    private static let rejects = 0x200

    init(ipv4: String, ipv6: String) {
      // Iface Destination Gateway Flags RefCnt Use Metric Mask …
      for line in ipv4.split(separator: "\n") {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000" else { continue }
        add(fields[0], fields[3])
      }
      // Destination, its length, source, its length, next hop, metric, two counts, flags, and the interface.
      for line in ipv6.split(separator: "\n") {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count >= 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00" else { continue }
        add(fields[9], fields[8])
      }
    }

    private mutating func add(_ interface: Substring, _ flags: Substring) {
      guard let flags = Int(flags, radix: 16), flags & Self.isUp != 0, flags & Self.rejects == 0 else { return }
      if interface != "lo" { interfaces.insert(String(interface)) }
    }
  }
#endif
