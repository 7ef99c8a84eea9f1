#if HTTP
  import NIOCore

  /// One connection: takes a request at a time and performs the steps of its reply.
  final class Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: Script
    private let journal: Journal
    private var received = ByteBuffer()
    /// The exchange under way, by its number, and what is left to do for it.
    private var current: (number: Int, path: String, steps: ArraySlice<Reply.Step>, bytesPerSecond: Int64?)?

    init(script: Script, journal: Journal) {
      self.script = script
      self.journal = journal
    }

    func channelActive(context: ChannelHandlerContext) { journal.connect() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      received.writeBuffer(&buffer)
      begin(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
      end()
      journal.disconnect()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func begin(_ context: ChannelHandlerContext) {
      guard current == nil, let request = Request(from: &received) else { return }
      let path = String(request.path.prefix { $0 != "?" })
      let reply = Reply(script.take(for: path), to: request)
      let number = journal.begin(Exchange(request: request, status: reply.status))
      current = (number, path, reply.steps[...], reply.bytesPerSecond)
      goOn(context)
    }

    private func end() {
      guard let number = current?.number else { return }
      current = nil
      journal.update(number) { $0.isOver = true }
    }

    private func goOn(_ context: ChannelHandlerContext) {
      guard let exchange = current else { return }
      guard let step = exchange.steps.first else {
        end()
        return begin(context)  // what came meanwhile
      }
      current!.steps.removeFirst()
      switch step {
      case .bytes(let bytes):
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        goOn(context)
      case .close:
        end()
        context.close(promise: nil)
      case .reset:
        end()
        let setting = (context.channel as? any SocketOptionProvider)?.setSoLinger(NIOLinger(l_onoff: 1, l_linger: 0))
        setting?.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
      case .hold:
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenSuccess { self.goOn(context) }
        script.hold(Script.Held(path: exchange.path, number: exchange.number, promise: promise)) {
          journal.update(exchange.number) { $0.isHeld = true }
        }
      case .content(let content, let range, let isChunked):
        send(content, range, isChunked: isChunked, context)
      }
    }

    /// Sends a piece, and goes on when the system took it.
    private func send(_ content: Content, _ range: Range<Int64>, isChunked: Bool, _ context: ChannelHandlerContext) {
      guard let exchange = current else { return }
      let most =
        exchange.bytesPerSecond.map { min(range.upperBound, range.lowerBound + max(1, $0 / 50)) }
        ?? range.upperBound
      let (buffers, count) = content.piece(of: range.lowerBound..<most)
      let rest = range.lowerBound + count..<range.upperBound
      if !rest.isEmpty {
        current!.steps.insert(.content(content, rest, isChunked: isChunked), at: exchange.steps.startIndex)
      }
      var pieces = buffers
      if isChunked {
        pieces.insert(ByteBuffer(string: "\(String(count, radix: 16))\r\n"), at: 0)
        pieces.append(ByteBuffer(string: "\r\n"))
      }
      for piece in pieces.dropLast() { context.write(wrapOutboundOut(piece), promise: nil) }
      context.writeAndFlush(wrapOutboundOut(pieces.last ?? ByteBuffer())).assumeIsolated().whenSuccess {
        self.journal.update(exchange.number) { $0.bytesSent += count }
        // In a turn of its own: a client that takes all at once would let the stack grow.
        let wait = exchange.bytesPerSecond.map { TimeAmount.nanoseconds(count * 1_000_000_000 / $0) } ?? .zero
        context.eventLoop.assumeIsolated().scheduleTask(in: wait) { self.goOn(context) }
      }
    }
  }
#endif
