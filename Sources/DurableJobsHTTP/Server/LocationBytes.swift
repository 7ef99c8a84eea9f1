#if HTTP
  import DurableJobsSystem
  import NIOCore
  import NIOHTTP1

  /// Escapes the non-ASCII bytes of a `Location`, in whatever character set, before they are read as UTF-8 and lost.
  final class LocationBytes: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private var head = Head()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .head = unwrapOutboundIn(data) { head = Head() }
      context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      guard !head.isOver else { return context.fireChannelRead(data) }
      let escaped = head.escape(buffer.readableBytesView)
      buffer.clear()
      buffer.writeBytes(escaped)
      context.fireChannelRead(wrapInboundOut(buffer))
    }

    /// The head of one answer, as it comes.
    struct Head {
      private(set) var isOver = false
      /// The beginning of the current line, in lower case; what comes after it is not needed.
      private var line: [UInt8] = []
      private var isInterim = false

      mutating func escape(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var escaped: [UInt8] = []
        for byte in bytes {
          if byte >= 0x80, !isOver, line.starts(with: "location:".utf8) {
            escaped += byte.escape
          } else {
            escaped.append(byte)
          }
          if !isOver { read(byte) }
        }
        return escaped
      }

      private mutating func read(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\r"): break
        case UInt8(ascii: "\n"):
          // Another head follows an interim one.
          if line.starts(with: "http/".utf8) { isInterim = line.dropFirst(9).first == UInt8(ascii: "1") }
          if line.isEmpty { isOver = !isInterim }
          line = []
        case _ where line.count < 10:
          line.append((0x41...0x5a).contains(byte) ? byte | 0x20 : byte)
        default: break
        }
      }
    }
  }
#endif
