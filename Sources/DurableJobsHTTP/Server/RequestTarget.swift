#if HTTP
  import NIOCore
  import NIOHTTP1

  /// Requests a target byte by byte as it is given. The client takes a request as the text of a URL, and parses that
  /// itself; so the target is passed in it with all its bytes escaped, and restored here.
  final class RequestTarget: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The URL to give the client to request `target` from `origin`.
    static func url(on origin: String, for target: String) -> String {
      origin + "/" + String(decoding: target.utf8.flatMap(\.escape), as: UTF8.self)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
      head.uri = String(decoding: head.uri.utf8.dropFirst().unescaped, as: UTF8.self)
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
  }
#endif
