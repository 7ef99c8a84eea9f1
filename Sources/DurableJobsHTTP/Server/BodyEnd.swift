#if HTTP
  import NIOHTTP1

  /// How the end of an answer's body is determined. RFC 9112, section 6.3.
  enum BodyEnd: Equatable {
    /// Its length.
    case after(Int64)
    /// By chunks, or HTTP/2.
    case told
    /// Only by the end of the connection, which looks like a broken one.
    case untold
    /// In any way, but the body is not the file: that transfer coding was not requested.
    case coded(String)

    init(_ headers: HTTPHeaders, _ version: HTTPVersion) {
      let codings = headers[canonicalForm: "Transfer-Encoding"].map { $0.lowercased() }
      if version.major < 2, headers.contains(name: "Transfer-Encoding") {
        if let other = codings.first(where: { $0 != "chunked" && $0 != "identity" }) {
          self = .coded(other)
        } else {
          self = version == .http1_1 && codings.last == "chunked" ? .told : .untold
        }
        return
      }
      let lengths = headers[canonicalForm: "Content-Length"]
      if let first = lengths.first, lengths.allSatisfy({ $0 == first }), first.allSatisfy(\.isASCIIDigit),
        let length = Int64(first)
      {
        self = .after(length)
      } else {
        self = version.major < 2 || !lengths.isEmpty ? .untold : .told
      }
    }
  }

  extension Character {
    var isASCIIDigit: Bool { isASCII && isNumber }
  }
#endif
