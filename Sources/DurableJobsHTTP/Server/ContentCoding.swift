#if HTTP
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1

  /// How an answer says that its body is encoded, in the fewest words: names that encode nothing are left out, and gzip
  /// has one name. RFC 9110, section 8.4.1.
  ///
  /// As a handler it tells the client's decompressor, which reads only the first word, and knows one name each.
  final class ContentCoding: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// Nil for a file that is not encoded.
    static func of(_ headers: HTTPHeaders) -> String? {
      let codings = headers[canonicalForm: field].map { $0.lowercased() }.filter { !none.contains($0) }
        .map { $0 == "x-gzip" ? "gzip" : $0 }
      return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    private static let field = "Content-Encoding"
    /// What servers send there for a file that is not encoded.
    private static let none: Set<String> = ["", "identity", "none", "binary", "utf-8", "utf8", "aws-chunked"]

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head(var head) = unwrapInboundIn(data), head.headers.contains(name: Self.field) else {
        return context.fireChannelRead(data)
      }
      // Of nothing, nothing is to be decoded.
      let coding = head.headers.first(name: "Content-Length") == "0" ? nil : Self.of(head.headers)
      head.headers.remove(name: Self.field)
      if let coding { head.headers.add(name: Self.field, value: coding) }
      context.fireChannelRead(wrapInboundOut(.head(head)))
    }
  }
#endif
