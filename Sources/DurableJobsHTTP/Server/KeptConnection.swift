#if HTTP
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import NIOPosix

  /// Distinguishes a connection that was kept from another request and is lost before any of this answer from one that
  /// never brought an answer: the first was usually closed before the request came, the second may be closed because of
  /// the request. It is placed right before the client's own handler.
  final class KeptConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// A connection that had brought an answer before ended without any of this one.
    struct Lost: Error {
      let cause: any Error
    }

    /// An established connection is lost: what was sent over it may have arrived. The system's error alone may be that
    /// of a connection that was never established.
    struct Broken: Error {
      let cause: IOError
    }

    /// Whether that is what the client says of it. It may take one from its pool that has just been closed.
    static func isLost(_ error: any Error) -> Bool { error is Lost || error as? ChannelError == .ioOnClosedChannel }

    private let answers: Answers
    private var awaitsAnswer = false

    /// For a connection, or a stream of one.
    init(on connection: any Channel) throws { answers = try Answers.of(connection) }

    private var isLost: Bool { awaitsAnswer && answers.haveCome }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .head = unwrapOutboundIn(data) { awaitsAnswer = true }
      guard let promise else { return context.write(data, promise: promise) }
      let written = context.eventLoop.makePromise(of: Void.self)
      written.futureResult.assumeIsolated().whenComplete { [self] result in
        switch result {
        case .success: promise.succeed()
        case .failure(let error): promise.fail(told(error))
        }
      }
      context.write(data, promise: written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head: awaitsAnswer = false
      case .body: break
      case .end: answers.haveCome = true
      }
      context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.fireErrorCaught(told(error)) }

    func channelInactive(context: ChannelHandlerContext) {
      if isLost { context.fireErrorCaught(Lost(cause: HTTPClientError.remoteConnectionClosed)) }
      awaitsAnswer = false
      context.fireChannelInactive()
    }

    private func told(_ error: any Error) -> any Error {
      guard let error = error as? IOError else { return error }
      return isLost && [ECONNRESET, EPIPE].contains(error.errnoCode) ? Lost(cause: error) : Broken(cause: error)
    }

    /// Whether a connection has brought an answer, by whichever of its streams.
    private final class Answers: ChannelInboundHandler {
      typealias InboundIn = NIOAny

      var haveCome = false

      static func of(_ connection: any Channel) throws -> Answers {
        let pipeline = connection.pipeline.syncOperations
        if let known = try? pipeline.handler(type: Answers.self) { return known }
        let new = Answers()
        try pipeline.addHandler(new)
        return new
      }
    }
  }
#endif
