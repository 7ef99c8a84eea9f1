#if Postgres
  import DurableJobs
  import Foundation
  import TestProcesses

  #if canImport(Darwin)
    import Darwin
  #else
    import Glibc
  #endif

  /// A socket before the tests' server that can keep to itself what the server said last, and cut the connection.
  package final class TestWire: Sendable {
    /// Where it listens, as a connection string has it.
    package let folder: String
    private let server: String
    private let listener: Int32
    private let state = Lock((awaited: [UInt8]?.none, cuts: 0, refusals: 0, words: "", isSilent: false))
    private let clients = Lock<Set<Int32>>([])

    /// ReadyForQuery, of a session that is in no transaction.
    private static let end: [UInt8] = [UInt8(ascii: "Z"), 0, 0, 0, 5, UInt8(ascii: "I")]
    private static let commit = [UInt8]("COMMIT\0".utf8)
    private static let name = "/.s.PGSQL.5432"

    package init(before server: TestServer) throws {
      self.server = server.folder + Self.name
      folder = "/tmp/durable-wire-\(UUID())"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      listener = try Self.socket(folder + Self.name, Foundation.bind)
      guard listen(listener, 100) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      Thread.detachNewThread { [listener, weak self] in
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0, let self else { break }
          connect(client)
        }
        close(listener)
      }
    }

    deinit {
      shutdown(listener, Int32(SHUT_RDWR))
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// The next connection on which a transaction ends, or one is committed, is cut before anybody hears of that.
    package func cutAtEnd(isCommit: Bool) { state.withLock { $0.awaited = isCommit ? Self.commit : Self.end } }
    package var cuts: Int { state.withLock { $0.cuts } }
    /// So many connections are refused from here on, as by a server that is being started, in its language.
    package func refuse(_ count: Int, saying words: String = "the database system is starting up") {
      state.withLock { ($0.refusals, $0.words) = (count, words) }
    }
    package var refusals: Int { state.withLock { $0.refusals } }
    /// Whether nothing of what the server says arrives, nor on new connections.
    package func fallSilent(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }

    /// Cuts all connections, whatever goes on on them.
    package func cutAll() { clients.withLock { for client in $0 { shutdown(client, Int32(SHUT_RDWR)) } } }

    private func isRefused(_ client: Int32) -> Bool {
      let words = state.withLock { state -> String? in
        guard state.refusals > 0 else { return nil }
        state.refusals -= 1
        return state.words
      }
      guard let words else { return false }
      let fields = ["SFATAL", "VFATAL", "C57P03", "M\(words)", ""].joined(separator: "\0") + "\0"
      _ = Self.read(client)
      _ = Self.write([UInt8(ascii: "E"), 0, 0, 0, UInt8(4 + fields.utf8.count)] + fields.utf8, client)
      close(client)
      return true
    }

    private func connect(_ client: Int32) {
      guard !isRefused(client) else { return }
      guard let server = try? Self.socket(server, Foundation.connect) else {
        close(client)
        return
      }
      _ = clients.withLock { $0.insert(client) }
      // Both are closed when neither is read any more.
      let open = Lock(2)
      for (from, to, isAnswer) in [(client, server, false), (server, client, true)] {
        Thread.detachNewThread { [weak self] in
          while let bytes = Self.read(from) {
            if isAnswer, self?.isToCut(bytes) ?? true { break }
            if isAnswer, self?.state.withLock({ $0.isSilent }) ?? true { continue }
            guard Self.write(bytes, to) else { break }
          }
          shutdown(client, Int32(SHUT_RDWR))
          shutdown(server, Int32(SHUT_RDWR))
          guard
            open.withLock({
              $0 -= 1; return $0 == 0
            })
          else { return }
          guard let self else {
            close(client)
            close(server)
            return
          }
          clients.withLock {
            $0.remove(client)
            close(client)
          }
          close(server)
        }
      }
    }

    private func isToCut(_ bytes: [UInt8]) -> Bool {
      state.withLock { state in
        guard let awaited = state.awaited, bytes.contains(awaited) else { return false }
        (state.awaited, state.cuts) = (nil, state.cuts + 1)
        return true
      }
    }

    private static func read(_ source: Int32) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = Foundation.read(source, &bytes, bytes.count)
      return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private static func write(_ bytes: [UInt8], _ target: Int32) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    private static func socket(
      _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
      let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let result = withUnsafeBytes(of: &address) {
        use(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
      }
      guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      return descriptor
    }
  }
#endif
