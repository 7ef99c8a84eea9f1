#if HTTP
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  /// Keeps what a server sends after an answer from becoming the answer to the next request on its connection, and so a
  /// wrong file: such a connection is closed. The answer is whole all the same. It is placed right before the decoder, and
  /// its ``Ends`` right after that.
  ///
  /// The decoder doesn't tell with which byte an answer has ended. So where one may end with the last byte that came, that
  /// is decoded by itself: if an answer ends before it, there is more than that.
  final class Surplus: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let ends: Ends

    init(_ ends: Ends) { self.ends = ends }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      // An answer that comes before its request answers nothing.
      guard ends.isExpected else { return ends.closeForSurplus() }
      var bytes = unwrapInboundIn(data)
      let isSplit = ends.mayCome(in: bytes)
      let beginning = isSplit ? bytes.readSlice(length: bytes.readableBytes - 1)! : bytes
      ends.decode { context.fireChannelRead(wrapInboundOut(beginning)) }
      if ends.hasCome { return ends.closeForSurplus() }
      guard isSplit else { return }
      ends.decode { context.fireChannelRead(wrapInboundOut(bytes)) }
      ends.pass()
    }

    /// Withholds the end of an answer until it is known that nothing follows it: the next request may be sent because of it.
    final class Ends: ChannelDuplexHandler {
      typealias InboundIn = HTTPClientResponsePart
      typealias InboundOut = HTTPClientResponsePart
      typealias OutboundIn = HTTPClientRequestPart
      typealias OutboundOut = HTTPClientRequestPart

      /// Whether an answer may come: not between the end of one and the next request.
      private(set) var isExpected = true
      private var context: ChannelHandlerContext?
      private var isDecoding = false
      private var isClosing = false
      /// Of the answer whose head has come.
      private var body: BodyEnd?
      private var end: HTTPClientResponsePart?

      func handlerAdded(context: ChannelHandlerContext) { self.context = context }
      func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

      var hasCome: Bool { end != nil }

      /// Whether an answer may end with the last of these bytes.
      func mayCome(in bytes: ByteBuffer) -> Bool {
        switch body {
        case nil: true
        case .after(let left): left <= Int64(bytes.readableBytes)
        case .untold: false
        // The last chunk ends a line.
        case .told, .coded: bytes.readableBytesView.last == UInt8(ascii: "\n")
        }
      }

      func decode(_ decode: () -> Void) {
        isDecoding = true
        defer { isDecoding = false }
        decode()
      }

      /// Passes on the end that has come, if one has.
      func pass() {
        guard let end, let context else { return }
        (self.end, body) = (nil, nil)
        isExpected = false
        context.fireChannelRead(wrapInboundOut(end))
      }

      func closeForSurplus() {
        isClosing = true
        pass()
        context?.close(promise: nil)
      }

      func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Of a request that waited for the end of that answer; none of it has gone.
        guard !isClosing else {
          promise?.fail(KeptConnection.Lost(cause: HTTPClientError.remoteConnectionClosed))
          return
        }
        if case .head = unwrapOutboundIn(data) { (isExpected, body) = (true, nil) }
        context.write(data, promise: promise)
      }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head):
          // Another one follows an interim answer, which has no body.
          body = head.status.code < 200 ? nil : BodyEnd(head.headers, head.version)
        case .body(let bytes):
          if case .after(let left) = body { body = .after(left - Int64(bytes.readableBytes)) }
        case .end:
          end = part
          // The end of the connection is the end of such an answer.
          if !isDecoding { pass() }
          return
        }
        context.fireChannelRead(data)
      }

      func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What follows the end of an answer is an error of nobody's.
        if !hasCome { context.fireErrorCaught(error) }
      }
    }
  }
#endif
