#if HTTP
  import NIOCore
  import NIOHTTP1
  import NIOHTTP2

  /// Lets a ``Connection`` speak over one stream of HTTP/2 as it does over a socket: what it says and hears is the text of
  /// HTTP/1.1. Answers must say their length, or come in chunks; when one is broken off, the stream is reset.
  final class Stream: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTPServerResponsePart

    /// Bytes of the body, or of its chunk, that are still to come; nil before the head.
    private var left: Int64?
    /// A body in chunks is one of no told length here.
    private var isChunked = false
    /// It answers the head of a request, takes no body, and says so: RFC 9113, section 8.1.
    private let isEarly: Bool

    private init(isEarly: Bool) { self.isEarly = isEarly }

    /// Makes of a connection over TLS one of HTTP/2, and a connection of its own of each stream.
    static func accept(
      in pipeline: ChannelPipeline.SynchronousOperations, isEarly: Bool,
      _ connection: @escaping @Sendable () -> Connection
    ) throws {
      _ = try pipeline.configureHTTP2Pipeline(
        mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
      ) { stream in
        stream.eventLoop.makeCompletedFuture {
          try stream.pipeline.syncOperations.addHandlers([
            HTTP2FramePayloadToHTTP1ServerCodec(), Stream(isEarly: isEarly), connection(),
          ])
        }
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if !isEarly, case .body(let bytes) = unwrapInboundIn(data) {
        return context.fireChannelRead(wrapInboundOut(bytes))
      }
      guard case .head(let head) = unwrapInboundIn(data) else { return }
      let lines =
        ["\(head.method) \(head.uri) HTTP/2"]
        + head.headers.filter { !isEarly || $0.name.lowercased() != "content-length" }.map { "\($0.name): \($0.value)" }
      context.fireChannelRead(wrapInboundOut(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      let bytes = unwrapOutboundIn(data)
      guard let left else { return writeHead(String(buffer: bytes), context, promise) }
      if isChunked, left == 0 { return beginChunk(String(buffer: bytes), context, promise) }
      self.left = left - Int64(bytes.readableBytes)
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
      if self.left == 0, !isChunked { end(context) }
    }

    private func end(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
      guard isEarly else { return context.write(wrapOutboundOut(.end(nil)), promise: promise) }
      // A reset takes along what has not gone.
      let written = promise ?? context.eventLoop.makePromise(of: Void.self)
      written.futureResult.assumeIsolated().whenSuccess {
        let codec = try? context.pipeline.syncOperations.context(
          handlerType: HTTP2FramePayloadToHTTP1ServerCodec.self)
        codec?.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(.noError)), promise: nil)
      }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// The line before a chunk, the end of one, or the last one.
    private func beginChunk(_ line: String, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
      let size = Int64(line.prefix { $0.isHexDigit }, radix: 16)
      if size == 0 { return end(context, promise) }
      left = size ?? 0
      promise?.succeed()
    }

    private func writeHead(_ text: String, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
      let lines = text.split(separator: "\r\n")
      var headers = HTTPHeaders()
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        headers.add(name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
      }
      isChunked = headers.contains(name: "Transfer-Encoding")
      headers.remove(name: "Transfer-Encoding")
      let status = lines[0].split(separator: " ")[1]
      let head = HTTPResponseHead(version: .http2, status: .init(statusCode: Int(status)!), headers: headers)
      left = isChunked ? 0 : headers["Content-Length"].first.flatMap { Int64($0) }!
      context.write(wrapOutboundOut(.head(head)), promise: promise)
      if left == 0, !isChunked { end(context) }
    }
  }
#endif
