#if HTTP
  import DurableJobs
  import DurableJobsSystem
  import NIOCore
  import NIOHTTP1

  /// Requests a target byte by byte as it is given. The client takes a request as the text of a URL, and parses that
  /// itself; so the target is passed in it with all its bytes escaped, and restored here.
  ///
  /// Nor does the client tell when it has found a connection for a request, or when all of it has gone. So the number of who
  /// is to hear of that goes with the target.
  final class RequestTarget: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    struct Departure: Sendable {
      /// Called with the connection over which the head of the request goes out.
      var onHead: @Sendable (any Channel) -> Void
      /// Told how the rest of it goes.
      var upload: Upload?
    }

    private struct Expected {
      var last = 0
      var departures: [Int: Departure] = [:]
    }

    private static let expected = Lock(Expected())

    /// Of the request that goes out here.
    private var upload: Upload?

    /// Returns the number for the request that is to go.
    static func expect(_ departure: Departure) -> Int {
      expected.withLock { expected in
        expected.last += 1
        expected.departures[expected.last] = departure
        return expected.last
      }
    }

    static func forget(_ departure: Int) { _ = expected.withLock { $0.departures.removeValue(forKey: departure) } }

    /// The URL to give the client to request `target` from `origin`.
    static func url(on origin: String, for target: String, _ departure: Int) -> String {
      "\(origin)/\(departure)/" + String(decoding: target.utf8.flatMap(\.escape), as: UTF8.self)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      let part = unwrapOutboundIn(data)
      if case .end = part, let upload {
        self.upload = nil
        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [channel = context.channel] result in
          if case .success = result { upload.isSent() } else { upload.breaks(with: channel) }
        }
        return context.write(data, promise: written)
      }
      guard case .head(var head) = part else { return context.write(data, promise: promise) }
      let parts = head.uri.utf8.split(separator: UInt8(ascii: "/"))
      head.uri = String(decoding: parts[1].unescaped, as: UTF8.self)
      let departure = Int(Substring(parts[0])).flatMap { number in Self.expected.withLock { $0.departures[number] } }
      departure?.onHead(context.channel)
      upload = departure?.upload
      upload?.begins(over: context.channel)
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      upload?.breaks(with: context.channel)
      upload = nil
    }
  }
#endif
