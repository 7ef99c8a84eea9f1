#if HTTP
  import DurableJobs
  import NIOCore
  import NIOHTTP1

  /// Requests a target byte by byte as it is given. The client takes a request as the text of a URL, and parses that
  /// itself; so the target is passed in it with all its bytes escaped, and restored here.
  ///
  /// Nor does the client tell when it has found a connection for a request. So the number of who is to hear of that goes
  /// with the target.
  final class RequestTarget: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private struct Expected {
      var last = 0
      var departures: [Int: @Sendable (any Channel) -> Void] = [:]
    }

    private static let expected = Lock(Expected())

    /// `onDeparture` is called with the connection over which the head of the request of that number goes out.
    static func expect(_ onDeparture: @escaping @Sendable (any Channel) -> Void) -> Int {
      expected.withLock { expected in
        expected.last += 1
        expected.departures[expected.last] = onDeparture
        return expected.last
      }
    }

    static func forget(_ departure: Int) { _ = expected.withLock { $0.departures.removeValue(forKey: departure) } }

    /// The URL to give the client to request `target` from `origin`.
    static func url(on origin: String, for target: String, _ departure: Int) -> String {
      "\(origin)/\(departure)/" + String(decoding: target.utf8.flatMap(\.escape), as: UTF8.self)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
      let parts = head.uri.utf8.split(separator: UInt8(ascii: "/"))
      head.uri = String(decoding: parts[1].unescaped, as: UTF8.self)
      let departure = Int(Substring(parts[0])).flatMap { number in Self.expected.withLock { $0.departures[number] } }
      departure?(context.channel)
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
  }
#endif
