import DurableJobs
import Foundation

/// Calls for Unix sockets: non-blocking, closed on exec, without SIGPIPE; nil or false on failure, with `errno`.
enum UnixSocket {
  /// The maximum length of a socket's path, in bytes.
  static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  static func open(_ kind: Int32) -> Descriptor? {
    let number = socket(AF_UNIX, kind, 0)
    return number < 0 ? nil : prepared(number)
  }

  /// Two connected sockets.
  static func pair() throws -> (Descriptor, Descriptor) {
    var numbers: [Int32] = [-1, -1]
    let isMade = socketpair(AF_UNIX, stream, 0, &numbers) == 0
    try require(isMade, "No more sockets can be opened (\(SystemError.words())).", code: .unusableFile)
    return (prepared(numbers[0]), prepared(numbers[1]))
  }

  /// A socket at that path, which only this user can reach.
  static func bound(_ kind: Int32, to path: String) -> Descriptor? {
    guard let socket = open(kind),
      withAddress(path, { bind(socket.number, $0, $1) }) == 0,
      chmod(path, 0o600) == 0,
      kind == datagram || listen(socket.number, SOMAXCONN) == 0
    else { return nil }
    return socket
  }

  static func connected(to path: String) -> Descriptor? {
    guard let socket = open(stream), withAddress(path, { connect(socket.number, $0, $1) }) == 0 else { return nil }
    return socket
  }

  static func accepted(by listening: Descriptor) -> Descriptor? {
    let number = accept(listening.number, nil, nil)
    return number < 0 ? nil : prepared(number)
  }

  static func send(_ byte: UInt8, from socket: Descriptor, to path: String) -> Bool {
    withUnsafeBytes(of: byte) { bytes in
      withAddress(path) { sendto(socket.number, bytes.baseAddress, 1, withoutSignal, $0, $1) } == 1
    }
  }

  /// The same on a connected socket.
  static func send(_ byte: UInt8, on connection: Descriptor) {
    _ = withUnsafeBytes(of: byte) { sendto(connection.number, $0.baseAddress, 1, withoutSignal, nil, 0) }
  }

  /// The next byte, from a datagram or a connection, if one is available.
  static func receive(from socket: Descriptor) -> UInt8? {
    var byte: UInt8 = 0
    return recv(socket.number, &byte, 1, 0) == 1 ? byte : nil
  }

  private static func withAddress<R: BinaryInteger>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
  ) -> R {
    guard path.utf8.count <= longestPath else {
      errno = ENAMETOOLONG
      return -1
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  /// Where the system can't create the socket closed on exec, a child started by another thread just before this may
  /// inherit it. The socket then seems open after the process died. The lock, which proves a death, is not affected,
  /// and the notice arrives through the other neighbour.
  private static func prepared(_ number: Int32) -> Descriptor {
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    _ = fcntl(number, F_SETFL, O_NONBLOCK)
    #if canImport(Darwin)
      var yes: Int32 = 1
      setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return Descriptor(number)
  }

  #if canImport(Darwin)
    private static let withoutSignal: Int32 = 0
    static let datagram: Int32 = SOCK_DGRAM
    static let stream: Int32 = SOCK_STREAM
  #else
    private static let withoutSignal = Int32(MSG_NOSIGNAL)
    static let datagram = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  #endif
}
