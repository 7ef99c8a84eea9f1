#if Postgres
  import Foundation
  import TestProcesses

  /// A wire between this machine and a test's server, which stands in a network of its own. It goes with that server.
  package struct TestNetwork {
    /// The server's.
    package let address: String
    private let own: String
    private let server: pid_t

    /// Networks are made by root, on Linux.
    package static var isPossible: Bool {
      geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/nsenter")
        && FileManager.default.fileExists(atPath: "/proc/self/ns/net")
    }

    package struct Failed: Error {
      package let command: String
    }

    package init(to server: TestServer) throws {
      self.server = server.pid
      let number = 4 * (Int(server.pid) % 16_000)
      func host(_ offset: Int) -> String { "10.231.\((number + offset) / 256).\((number + offset) % 256)" }
      (own, address) = (host(1), host(2))
      let link = "dj\(server.pid)"
      try Self.run("ip link add \(link) type veth peer name wire netns \(server.pid)")
      try Self.run("ip addr add \(own)/30 dev \(link)")
      try Self.run("ip link set \(link) up")
      try inside("ip addr add \(address)/30 dev wire")
      try inside("ip link set wire up")
    }

    /// Whether all that the server sends is dropped, and nobody is told.
    package func drop(_ drops: Bool) throws { try inside("ip route \(drops ? "add" : "del") blackhole \(own)/32") }

    private func inside(_ command: String) throws { try Self.run("nsenter -t \(server) -n \(command)") }

    private static func run(_ command: String) throws {
      let words = command.split(separator: " ").map(String.init)
      guard try ChildProcess("/usr/bin/env", words).wait() == .exited(0) else { throw Failed(command: command) }
    }
  }
#endif
