#if HTTP
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOPosix
  import NIOSSL

  /// A web server, on a loopback address and a real socket, that does with each request what a test tells it to.
  ///
  ///     let server = try await LyingServer()
  ///     server.serve("/a.bin", .file(content).cut(after: 1000), .file(content))
  ///     …
  ///     #expect(server.requests("/a.bin").map(\.rangeStart) == [nil, 1000])
  ///
  /// A path's answers are given in turn, to one request each, and the last one to all that follow; other paths are not
  /// found. It goes with the test: connections that are open when it is released are closed.
  public final class LyingServer: Sendable {
    /// The files, in PEM, of the certificate that it shows, and of its key.
    public struct Certificate: Sendable {
      var certificate: String
      var key: String

      public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
      }
    }

    private struct TLS {
      var context: NIOSSLContext
      var speaksHTTP2: Bool
      var answersEarly: Bool
    }

    private struct State {
      var listener: (any Channel)?
      var held: HeldPort?
      var connections: [ObjectIdentifier: any Channel] = [:]
    }

    public let host: String
    public let port: Int
    private let scheme: String
    private let tls: TLS?
    private let script = Script()
    private let journal = Journal()
    private let state: Lock<State>

    /// On a free port of `host`: 127.0.0.1, or another address of the loopback network, which is another host. HTTP/2 is
    /// spoken over TLS only, and nothing else then; what happens is told of its streams as of connections. There it may answer
    /// heads, and say that it needs no more.
    public init(
      on host: String = "127.0.0.1", certificate: Certificate? = nil, speaksHTTP2: Bool = false,
      answersEarly: Bool = false
    ) async throws {
      self.host = host
      scheme = certificate == nil ? "http" : "https"
      tls = try certificate.map {
        var configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: try NIOSSLCertificate.fromPEMFile($0.certificate).map { .certificate($0) },
          privateKey: .privateKey(try NIOSSLPrivateKey(file: $0.key, format: .pem)))
        if speaksHTTP2 { configuration.applicationProtocols = ["h2"] }
        return TLS(
          context: try NIOSSLContext(configuration: configuration), speaksHTTP2: speaksHTTP2, answersEarly: answersEarly
        )
      }
      let state = Lock(State())
      self.state = state
      let listener = try await Self.listen(host, port: 0, tls, script, journal, state)
      state.withLock { $0.listener = listener }
      port = listener.localAddress!.port!
    }

    deinit {
      state.withLock { $0.listener }?.close(promise: nil)
      closeConnections()
      release()
    }

    /// The URL of a path here; by another name of this host if one is given.
    public func url(_ path: String, by name: String? = nil) -> String { "\(scheme)://\(name ?? host):\(port)\(path)" }

    public func serve(_ path: String, _ answers: LyingAnswer...) { serve(path, answers) }
    public func serve(_ path: String, _ answers: [LyingAnswer]) { script.set(answers, for: path) }

    /// Lets the answers go on that are held now: those of `path`, or all.
    public func release(_ path: String? = nil) {
      for held in script.takeHeld(path) {
        // Before it goes on: who waits for the next hold must not see this one.
        journal.update(held.number) { $0.isHeld = false }
        held.promise.succeed()
      }
    }

    /// Refuses connections from here on. Those that are open stay. Nobody else gets the port.
    public func stopListening() async throws {
      let held = try HeldPort(host, port)
      let listener = state.withLock { state in
        state.held = held
        defer { state.listener = nil }
        return state.listener
      }
      try await listener?.close()
    }

    /// Takes connections again, on the same port.
    public func listenAgain() async throws {
      let listener = try await Self.listen(host, port: port, tls, script, journal, state)
      state.withLock { $0.listener = listener }
    }

    /// Closes the connections that are open, with all that is said by them.
    public func closeConnections() {
      for connection in state.withLock({ Array($0.connections.values) }) { connection.close(promise: nil) }
    }

    // MARK: What happened

    public var exchanges: [Exchange] { journal.exchanges }
    public func exchanges(_ path: String) -> [Exchange] { exchanges.filter { $0.path == path } }
    public var requests: [Request] { exchanges.map(\.request) }
    public func requests(_ path: String) -> [Request] { exchanges(path).map(\.request) }
    /// Of bodies, in all.
    public var bytesSent: Int64 { exchanges.reduce(0) { $0 + $1.bytesSent } }
    /// At once, at most.
    public var highestConnections: Int { journal.highestConnections }
    /// Requests that were not answered to the end yet, at once, at most.
    public var highestRequests: Int { journal.highestRequests }

    /// Waits until what happened is as `condition` wants it.
    public func until(_ condition: @escaping @Sendable ([Exchange]) -> Bool) async {
      await journal.wait(until: condition)
    }

    /// Waits until a path was asked for so many times.
    public func asked(_ path: String, times: Int = 1) async {
      await until { $0.count { $0.path == path } >= times }
    }

    /// Waits until so many bytes were sent of a path, in all answers together.
    public func sent(_ path: String, atLeast bytes: Int64) async {
      await until { $0.reduce(0) { $1.path == path ? $0 + $1.bytesSent : $0 } >= bytes }
    }

    /// Waits until so many answers of a path are held at once.
    public func held(_ path: String, times: Int = 1) async {
      await until { $0.count { $0.path == path && $0.isHeld } >= times }
    }

    private static func listen(
      _ host: String, port: Int, _ tls: TLS?, _ script: Script, _ journal: Journal, _ state: Lock<State>
    ) async throws -> any Channel {
      try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        // For one that holds the port while this does not listen.
        .serverChannelOption(.socketOption(.init(rawValue: SO_REUSEPORT)), value: 1)
        // What the system holds for a client that was killed counts as sent: little.
        .childChannelOption(.socketOption(.so_sndbuf), value: 65_536)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let key = ObjectIdentifier(channel)
            state.withLock { $0.connections[key] = channel }
            channel.closeFuture.whenComplete { _ in state.withLock { $0.connections[key] = nil } }
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.context)) }
            if tls?.speaksHTTP2 == true {
              try Stream.accept(in: pipeline, isEarly: tls?.answersEarly == true) {
                Connection(script: script, journal: journal)
              }
            } else {
              try pipeline.addHandler(Connection(script: script, journal: journal))
            }
          }
        }
        .bind(host: host, port: port).get()
    }
  }
#endif
