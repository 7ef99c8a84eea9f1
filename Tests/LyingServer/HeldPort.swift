#if HTTP
  import Foundation

  /// Keeps a port from being given to another server while its own does not listen: bound, and never listening, so that who
  /// connects is refused.
  final class HeldPort: Sendable {
    struct CannotHold: Error { var port: Int }

    private let descriptor: Int32

    init(_ host: String, _ port: Int) throws {
      #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
      #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      #endif
      var yes: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, socklen_t(MemoryLayout<Int32>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = inet_addr(host)
      let descriptor = descriptor
      let isBound = withUnsafePointer(to: address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isBound else { throw CannotHold(port: port) }
    }

    deinit { close(descriptor) }
  }
#endif
