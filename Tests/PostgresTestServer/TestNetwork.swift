#if Postgres
  import Foundation
  import TestProcesses

  /// A wire between this machine and a test's server, which stands in a network of its own. It goes with that server.
  package struct TestNetwork {
    /// The server's.
    package let address: String
    private let own: String
    private let server: pid_t

    /// Whether this process may make networks and wires between them. Root may not everywhere: in a container, it mostly
    /// lacks the right.
    package static let isPossible: Bool = {
      let making = "command -v nsenter && unshare -n ip link add near type veth peer name far"
      guard geteuid() == 0, let devices = FileHandle(forUpdatingAtPath: "/dev/null") else { return false }
      let null = devices.fileDescriptor
      return (try? ChildProcess("/bin/sh", ["-c", making], output: null, error: null).wait()) == .exited(0)
    }()

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
