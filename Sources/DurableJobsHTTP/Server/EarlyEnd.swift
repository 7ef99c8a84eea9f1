#if HTTP
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  /// Treats a connection or stream that breaks within a body of known length as the body's end. Its error would discard
  /// what had arrived and was not read yet, which may be megabytes; the bytes that came are counted in any case.
  final class EarlyEnd: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var isInBody = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        // An interim answer has no body, whatever length it states.
        isInBody =
          if head.status.code >= 200, case .after = BodyEnd(head.headers, head.version) { true } else { false }
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
