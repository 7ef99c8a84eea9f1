#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import LyingServer
  import NIOCore
  import NIOPosix
  import NIOSSL
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct KeptConnectionTests {
    /// Hears what a connection is told at last.
    private final class Listener: ChannelInboundHandler, Sendable {
      typealias InboundIn = NIOAny
      let heard = Lock<(any Error)?>(nil)

      func errorCaught(context: ChannelHandlerContext, error: any Error) { heard.withLock { $0 = error } }
    }

    @Test(arguments: [ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ECONNREFUSED, ECONNRESET])
    func `A connection that is lost once it has come about is none that came not about: the request may have arrived`(
      number: Int32
    ) async throws {
      let server = try await LyingServer()
      let listener = Listener()
      let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(KeptConnection(on: channel))
            try channel.pipeline.syncOperations.addHandler(listener)
          }
        }
        .connect(host: server.host, port: server.port).get()
      channel.pipeline.fireErrorCaught(IOError(errnoCode: number, reason: "read"))
      try await channel.close()
      let error = try #require(listener.heard.withLock { $0 }.flatMap { DownloadError.connection($0, "h") })
      #expect(error.code == .connection)
      #expect(!error.isUnreached)
      #expect(error.message.hasPrefix("the connection to h broke: "), "\(error.message)")
    }

    @Test(arguments: [
      HTTPClientError.connectTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout,
    ]) func `Where no connection came about in time, nobody was reached`(error: HTTPClientError) {
      #expect(DownloadError.connection(error, "h")?.isUnreached == true)
    }

    @Test func `What waited in vain for one of the connections to a host waits on, and nothing of it was sent`() {
      #expect(DownloadError.connection(HTTPClientError.getConnectionFromPoolTimeout, "h")?.code == .noRoom)
    }

    @Test func `A handshake that fails has sent nothing`() {
      #expect(DownloadError.connection(NIOSSLError.handshakeFailed(.noError), "h")?.isUnsent == true)
      #expect(DownloadError.connection(NIOSSLError.uncleanShutdown, "h")?.isUnsent == false)
    }

    @Test func `A request that its client gave up is cancelled if its task is, and else has not been sent`() async {
      let error = DownloadError.connection(HTTPClientError.cancelled, "h")
      #expect(error?.isUnsent == true)
      let cancelled = Task {
        await Gate().pass()  // until it is cancelled
        return DownloadError.connection(HTTPClientError.cancelled, "h") == nil
      }
      cancelled.cancel()
      #expect(await cancelled.value)
    }
  }
#endif
