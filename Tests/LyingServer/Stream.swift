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

    /// Makes of a connection over TLS one of HTTP/2, and a connection of its own of each stream.
    static func accept(
      in pipeline: ChannelPipeline.SynchronousOperations, _ connection: @escaping @Sendable () -> Connection
    ) throws {
      _ = try pipeline.configureHTTP2Pipeline(
        mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
      ) { stream in
        stream.eventLoop.makeCompletedFuture {
          try stream.pipeline.syncOperations.addHandlers([
            HTTP2FramePayloadToHTTP1ServerCodec(), Stream(), connection(),
          ])
        }
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if case .body(let bytes) = unwrapInboundIn(data) { return context.fireChannelRead(wrapInboundOut(bytes)) }
      guard case .head(let head) = unwrapInboundIn(data) else { return }
      let lines = ["\(head.method) \(head.uri) HTTP/2"] + head.headers.map { "\($0.name): \($0.value)" }
      context.fireChannelRead(wrapInboundOut(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      let bytes = unwrapOutboundIn(data)
      guard let left else { return writeHead(String(buffer: bytes), context, promise) }
      if isChunked, left == 0 { return beginChunk(String(buffer: bytes), context, promise) }
      self.left = left - Int64(bytes.readableBytes)
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
      if self.left == 0, !isChunked { context.write(wrapOutboundOut(.end(nil)), promise: nil) }
    }

    /// The line before a chunk, the end of one, or the last one.
    private func beginChunk(_ line: String, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
      let size = Int64(line.prefix { $0.isHexDigit }, radix: 16)
      if size == 0 { return context.write(wrapOutboundOut(.end(nil)), promise: promise) }
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
      if left == 0, !isChunked { context.write(wrapOutboundOut(.end(nil)), promise: nil) }
    }
  }
#endif
