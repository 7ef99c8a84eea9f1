#if HTTP
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  /// Refuses an answer that ends without a valid final head, which the client would not survive: its status is below
  /// 100, or it is an interim one and has a body. It is placed behind an ``EarlyEnd``, and sees its ends, too.
  final class FinalHead: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// The status of a head that another one must follow.
    private var interim: HTTPResponseStatus?
    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isRefused else { return }
      switch unwrapInboundIn(data) {
      case .head(let head):
        interim = head.status.code < 200 && head.status != .switchingProtocols ? head.status : nil
        if head.status.code < 100 { return refuse(head.status, context) }
      case .body, .end:
        if let interim { return refuse(interim, context) }
      }
      context.fireChannelRead(data)
    }

    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
      isRefused = true
      context.fireErrorCaught(
        DownloadError(.unusableAnswer, "the server answered with the status \(status.code), which ends no request"))
      context.close(promise: nil)
    }
  }
#endif
