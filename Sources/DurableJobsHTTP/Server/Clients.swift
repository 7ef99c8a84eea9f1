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
      /// A proxy for plain HTTP is not tunnelled through, but asked for the whole URL.
      var asksProxy = false
      var caCertificates: String?
      var decodes = false
    }

    private let connectTimeout: Duration
    private let open = Lock<[Kind: HTTPClient]>([:])

    init(connectTimeout: Duration) { self.connectTimeout = connectTimeout }

    deinit {
      // Requests keep their downloader, so none is under way.
      for client in open.withLock({ $0.values }) { client.shutdown().whenComplete { _ in } }
    }

    /// Throws if the certificates can't be read.
    func client(_ kind: Kind) throws -> HTTPClient {
      try open.withLock { open in
        if let client = open[kind] { return client }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: try configuration(kind))
        open[kind] = client
        return client
      }
    }

    private func configuration(_ kind: Kind) throws -> HTTPClient.Configuration {
      var tls = TLSConfiguration.makeClientConfiguration()
      if let path = kind.caCertificates {
        do {
          tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
        } catch {
          throw DownloadError(.invalidDownload, "no certificates can be read from \(path); it must be a file in PEM")
        }
      }
      var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
      configuration.timeout.connect = .milliseconds(connectTimeout.milliseconds)
      // Limits and retries are ours.
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
      configuration.connectionPool.retryConnectionEstablishment = false
      if kind.decodes { configuration.decompression = .enabled(limit: .none) }
      configuration.http1_1ConnectionDebugInitializer = { channel in
        channel.eventLoop.submit {
          let pipeline = channel.pipeline.syncOperations
          if kind.asksProxy {
            let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
            try pipeline.addHandler(AbsoluteForm(), position: .after(encoder))
          }
          if !kind.decodes {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(EarlyEnd(), position: .after(decoder))
          }
        }
      }
      configuration.http2StreamChannelDebugInitializer = { stream in
        stream.eventLoop.makeCompletedFuture {
          guard !kind.decodes else { return }
          let pipeline = stream.pipeline.syncOperations
          let decoder = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
          try pipeline.addHandler(EarlyEnd(), position: .after(decoder))
        }
      }
      if let proxy = kind.proxy {
        switch proxy.kind {
        case .http where kind.asksProxy:
          break
        case .http:
          let authorization = proxy.user.map {
            HTTPClient.Authorization.basic(username: $0, password: proxy.password ?? "")
          }
          configuration.proxy =
            authorization.map { .server(host: proxy.host, port: proxy.port, authorization: $0) }
            ?? .server(host: proxy.host, port: proxy.port)
        case .socks:
          guard proxy.user == nil else {
            throw DownloadError(
              .invalidDownload,
              "the SOCKS proxy \(proxy.host):\(proxy.port) wants a user, which can't be given to it here")
          }
          configuration.proxy = .socksServer(host: proxy.host, port: proxy.port)
        }
      }
      return configuration
    }
  }

  /// Names the whole URL in a request's first line, as a proxy for plain HTTP wants it.
  private final class AbsoluteForm: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
        return context.write(data, promise: promise)
      }
      head.uri = "http://" + host + head.uri
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
  }

  /// Takes a connection, or a stream of one, that breaks within a body of known length for the body's end. Its error would
  /// throw away what had arrived and was not read yet, which may be megabytes; how much came is counted in any case.
  private final class EarlyEnd: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var isInBody = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): isInBody = head.headers.first(name: "Content-Length").flatMap { Int64($0) } != nil
      case .body: break
      case .end: isInBody = false
      }
      context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      guard isInBody else { return context.fireErrorCaught(error) }
      end(context)
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      if isInBody { end(context) }
      context.fireChannelInactive()
    }

    private func end(_ context: ChannelHandlerContext) {
      isInBody = false
      context.fireChannelRead(wrapInboundOut(.end(nil)))
    }
  }
#endif
