#if Shell
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix

  /// The local server of the download demo: gives ``DemoFiles`` away over HTTP at a pace that can be watched, whole or
  /// from a given byte on.
  final class FileServer: Sendable {
    let ledger: ServingLedger
    let port: Int
    private let group: MultiThreadedEventLoopGroup

    /// Listens at a free port of this machine only.
    init(_ files: DemoFiles, pace: ServingPace) async throws {
      // One thread: what it is told to do at one moment happens in that order.
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let ledger = ServingLedger(total: files.totalSize)
      do {
        let channel = try await ServerBootstrap(group: group)
          .serverChannelOption(.backlog, value: 256)
          .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.configureHTTPServerPipeline()
              try channel.pipeline.syncOperations.addHandler(FileHandler(files: files, pace: pace, ledger: ledger))
            }
          }
          .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
      } catch {
        try? await group.shutdownGracefully()
        throw error
      }
      self.group = group
      self.ledger = ledger
    }

    func url(of number: Int) -> URL { URL(string: "http://127.0.0.1:\(port)/\(DemoFiles.name(number))")! }

    /// Calls `body` on the server's thread.
    func schedule(in delay: Duration, _ body: @escaping @Sendable () -> Void) {
      group.next().scheduleTask(in: TimeAmount(delay), body)
    }

    /// Closes all connections.
    func stop() async { try? await group.shutdownGracefully() }
  }

  /// Answers the requests of one connection.
  private final class FileHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let files: DemoFiles
    private let pace: ServingPace
    private let ledger: ServingLedger
    private let worker: Int
    private var timer: Scheduled<Void>?

    init(files: DemoFiles, pace: ServingPace, ledger: ServingLedger) {
      self.files = files
      self.pace = pace
      self.ledger = ledger
      worker = ledger.worker
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head(let head) = unwrapInboundIn(data) else { return }
      answer(head, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
      guard let number = files.number(named: request.uri.dropFirst()) else {
        return finish(request, .notFound, [:], nil, context)
      }
      let tag = "\"\(number)-\(files.size)\""
      var headers: HTTPHeaders = [
        "ETag": tag, "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream",
      ]
      let isOther = request.headers.first(name: "If-Range").map { $0 != tag } ?? false
      switch isOther ? .whole : RequestedRange(request.headers.first(name: "Range"), size: files.size) {
      case .whole:
        finish(request, .ok, headers, (number, 0..<files.size), context)
      case .part(let range):
        headers.add(name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(files.size)")
        finish(request, .partialContent, headers, (number, range), context)
      case .none:
        headers.add(name: "Content-Range", value: "bytes */\(files.size)")
        finish(request, .rangeNotSatisfiable, headers, nil, context)
      }
    }

    /// Sends the head of an answer, and begins with its body if it has one.
    private func finish(
      _ request: HTTPRequestHead, _ status: HTTPResponseStatus, _ headers: HTTPHeaders,
      _ content: (number: Int, range: Range<Int>)?, _ context: ChannelHandlerContext
    ) {
      var headers = headers
      headers.add(name: "Content-Length", value: "\(content?.range.count ?? 0)")
      context.write(
        wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
      if let content, request.method != .HEAD {
        send(content.number, content.range, context)
      } else {
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
    }

    /// Sends what belongs to the step that the range begins in, and the rest later.
    private func send(_ number: Int, _ range: Range<Int>, _ context: ChannelHandlerContext) {
      let end = min(pace.end(from: range.lowerBound, size: files.size), range.upperBound)
      let bytes = files.bytes(of: number, in: range.lowerBound..<end)
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenSuccess { [ledger, worker] in ledger.sent(bytes.count, to: worker) }
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: sent)
      guard end < range.upperBound else {
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        return
      }
      let pause = pace.pause(random: .random(in: 0...1))
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) {
        self.send(number, end..<range.upperBound, context)
      }
    }
  }

  /// What a `Range` header asks for.
  enum RequestedRange: Hashable, Sendable {
    case whole
    case part(Range<Int>)
    /// Nothing of the file.
    case none

    init(_ header: String?, size: Int) {
      // Other forms may be ignored.
      guard let match = header?.wholeMatch(of: /bytes=(\d+)-(\d*)/), let first = Int(match.1) else {
        self = .whole
        return
      }
      let last = min(Int(match.2) ?? .max, size - 1)
      self = first < size && first <= last ? .part(first..<last + 1) : .none
    }
  }
#endif
