import DurableJobs
import DurableJobsSystem
import Foundation
import Testing

@Suite struct AddressProbeTests {
  @Test("An address is reached as long as somebody listens there") func listening() async throws {
    var listener: Listener? = try Listener()
    let port = try #require(listener?.port)
    let probe = AddressProbe(host: "127.0.0.1", port: port, every: .milliseconds(1))
    var told: [Bool] = []
    for await value in probe.changes() {
      told.append(value)
      if told.count == 1 { listener = nil }
      if told.count == 2 { listener = try Listener(port: port) }
      if told.count == 3 { break }
    }
    #expect(told == [true, false, true])
    #expect(listener != nil)
  }

  @Test("A name that nobody has is not reached, and ends nothing", arguments: ["name.invalid", "", "127.0.0.1 "])
  func unknown(host: String) async {
    for await value in AddressProbe(host: host, port: 9).changes() {
      #expect(!value)
      break
    }
  }
}

/// Takes connections at the loopback address, in the system's queue.
private final class Listener {
  let port: UInt16
  private let socket: Int32

  init(port wanted: UInt16 = 0) throws {
    #if canImport(Darwin)
      socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #else
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = wanted.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && listen(socket, 100) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    try #require(isBound)
  }

  deinit { close(socket) }
}
