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
      guard !head.isOver else { return context.fireChannelRead(data) }
      var buffer = unwrapInboundIn(data)
      guard let escaped = head.escape(buffer.readableBytesView) else { return context.fireChannelRead(data) }
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

      /// Nil if they stay as they are. What follows the head, mostly a file, is not read.
      mutating func escape(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        var escaped: [UInt8]?
        var rest = bytes[...]
        while !isOver, let byte = rest.first {
          if byte >= 0x80, line.starts(with: "location:".utf8) {
            if escaped == nil { escaped = Array(bytes[..<rest.startIndex]) }
            escaped?.append(contentsOf: byte.escape)
          } else {
            escaped?.append(byte)
          }
          read(byte)
          rest.removeFirst()
        }
        return escaped.map { $0 + rest }
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
