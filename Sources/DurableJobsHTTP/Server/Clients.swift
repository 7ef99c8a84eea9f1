#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOHTTP2
  import NIOSSL

  /// The HTTP clients of a ``Downloader``: one for each proxy, set of certificates, and way of decoding.
  final class Clients: Sendable {
    struct Kind: Hashable, Sendable {
      var proxy: Proxies.Proxy?
      /// A proxy for plain HTTP is not tunnelled through, but receives the whole URL.
      var asksProxy = false
      var caCertificates: String?
      var decodes = false
      /// Requests have bodies that are sent in pieces. The client forgets an HTTP/2 request when its answer ends, and
      /// does not survive later events of its stream; an answer may come before the body has ended.
      var streamsBodies = false
      /// The status of the file of certificates when it was read.
      var certificates: FileStatus?
    }

    private let connectTimeout: Duration
    private let open = Lock<[Kind: HTTPClient]>([:])

    init(connectTimeout: Duration) { self.connectTimeout = connectTimeout }

    deinit {
      // Requests keep their downloader alive, so none is running.
      for client in open.withLock({ $0.values }) { client.shutdown().whenComplete { _ in } }
    }

    /// Makes what all clients wait in, if that was not done yet. It opens files, and the process ends if it can't: to be
    /// called before downloads open theirs.
    static func prepare() { _ = HTTPClient.defaultEventLoopGroup }

    /// Throws if the certificates can't be read. A file of them that has changed is read again.
    func client(_ kind: Kind) throws -> HTTPClient {
      var kind = kind
      kind.certificates = kind.caCertificates.flatMap { FileStatus(ofFileAt: $0) }
      if let client = open.withLock({ [kind] in $0[kind] }) { return client }
      // If the file of certificates hangs, nobody else waits for it.
      let made = HTTPClient(eventLoopGroupProvider: .singleton, configuration: try configuration(kind))
      let client = open.withLock { [kind] open in
        if let client = open[kind] { return client }
        open[kind] = made
        return made
      }
      if client !== made { made.shutdown().whenComplete { _ in } }
      return client
    }

    private func configuration(_ kind: Kind) throws -> HTTPClient.Configuration {
      var tls = TLSConfiguration.makeClientConfiguration()
      if let path = kind.caCertificates {
        let refusal = DownloadError(
          .invalidDownload, "no certificates can be read from \(path); it must be a file in PEM")
        let text = try AttemptFile.read(path, orThrow: refusal)
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(text)), !certificates.isEmpty else {
          throw refusal
        }
        tls.trustRoots = .certificates(certificates)
      }
      var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
      if kind.streamsBodies { configuration.httpVersion = .http1Only }
      configuration.timeout.connect = .milliseconds(connectTimeout.milliseconds)
      // We apply limits and retries ourselves.
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
      configuration.connectionPool.retryConnectionEstablishment = false
      if kind.decodes { configuration.decompression = .enabled(limit: .none) }
      configuration.http1_1ConnectionDebugInitializer = { channel in
        channel.eventLoop.submit {
          let pipeline = channel.pipeline.syncOperations
          let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
          try pipeline.addHandler(LocationBytes(), position: .before(decoder))
          try pipeline.addHandler(KeptConnection(on: channel), position: .after(decoder))
          try pipeline.addHandler(FinalHead(), position: .after(decoder))
          try pipeline.addHandler(kind.decodes ? ContentCoding() : EarlyEnd(), position: .after(decoder))
          try pipeline.addHandler(RequestTarget(), position: .after(decoder))
          let ends = Surplus.Ends()
          try pipeline.addHandler(ends, position: .after(decoder))
          try pipeline.addHandler(Surplus(ends), position: .before(decoder))
          channel.takeLittleAhead()
        }
      }
      configuration.http2StreamChannelDebugInitializer = { stream in
        stream.eventLoop.makeCompletedFuture {
          let pipeline = stream.pipeline.syncOperations
          let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
          try pipeline.addHandler(KeptConnection(on: stream.parent ?? stream), position: .after(codec))
          try pipeline.addHandler(FinalHead(), position: .after(codec))
          try pipeline.addHandler(kind.decodes ? ContentCoding() : EarlyEnd(), position: .after(codec))
          try pipeline.addHandler(RequestTarget(), position: .after(codec))
        }
      }
      if let proxy = kind.proxy {
        let address = proxy.host.trimmingCharacters(in: ["[", "]"])
        switch proxy.kind {
        case .http where kind.asksProxy:
          break
        case .http:
          let authorization = proxy.credentials.map {
            HTTPClient.Authorization.basic(credentials: String($0.basic.dropFirst("Basic ".count)))
          }
          configuration.proxy =
            authorization.map { .server(host: address, port: proxy.port, authorization: $0) }
            ?? .server(host: address, port: proxy.port)
        case .socks:
          guard proxy.credentials == nil else {
            throw DownloadError(
              .invalidDownload,
              "the SOCKS proxy \(proxy.hostAndPort) is given with a user, and none can be told to it here; "
                + "use one that needs none, or an http proxy")
          }
          configuration.proxy = .socksServer(host: address, port: proxy.port)
        }
      }
      return configuration
    }
  }

  extension Channel {
    /// Makes the system buffer little more of a body than it sends: otherwise it buffers megabytes at once, and what is told
    /// of the progress is far ahead of that. Other systems buffer little by themselves, and some of Linux refuse it.
    func takeLittleAhead() {
      #if os(Linux)
        try? syncOptions?.setOption(Clients.notSentLowAt, value: 1 << 17)
      #endif
    }

    /// How many bytes the other end has acknowledged so far; nil where the system doesn't tell.
    var bytesTaken: UInt64? {
      get async {
        #if os(Linux)
          guard let socket = self as? any SocketOptionProvider else { return nil }
          let tcpInfo = NIOBSDSocket.Option(rawValue: 11)
          let info: EventLoopFuture<TCPInfo> = socket.unsafeGetSocketOption(level: .tcp, name: tcpInfo)
          return try? await info.get().bytesAcked
        #else
          return nil
        #endif
      }
    }
  }

  #if os(Linux)
    extension Clients {
      /// TCP_NOTSENT_LOWAT
      static let notSentLowAt = ChannelOptions.Types.SocketOption.tcpOption(NIOBSDSocket.Option(rawValue: 25))
    }

    /// The beginning of the system's `tcp_info`, which the libraries of C know less of.
    private struct TCPInfo {
      typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64)
      var others: (Words, Words, Words)
      var bytesAcked: UInt64
    }
  #endif
#endif
