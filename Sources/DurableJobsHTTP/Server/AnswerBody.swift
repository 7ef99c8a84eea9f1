#if HTTP
  import AsyncHTTPClient
  import NIOCore

  /// The body of an answer, whose beginning can be examined before it is consumed.
  struct AnswerBody {
    private var pieces: HTTPClientResponse.Body.AsyncIterator
    private var beginning = ByteBuffer()
    /// Why nothing follows the beginning, reported when the body is consumed.
    private var failure: (any Error)?

    init(_ body: HTTPClientResponse.Body) { pieces = body.makeAsyncIterator() }

    mutating func next() async throws -> ByteBuffer? {
      if beginning.readableBytes > 0 {
        defer { beginning = ByteBuffer() }
        return beginning
      }
      if let failure { throw failure }
      return try await pieces.next()
    }

    /// Passes over bytes that were looked at.
    mutating func drop(_ count: Int) { beginning.moveReaderIndex(forwardBy: count) }

    /// Calls `question` with the bytes that have come, from the first one on, until it returns an answer or no more
    /// come; nil if it never does.
    mutating func look<R>(_ question: (ByteBufferView) -> R?) async -> R? {
      while true {
        if let answer = question(beginning.readableBytesView) { return answer }
        do {
          guard var piece = try await pieces.next() else { return nil }
          beginning.writeBuffer(&piece)
        } catch {
          failure = error
          return nil
        }
      }
    }
  }

  extension FileAnswer {
    /// Finds out from the first bytes of its body what its head doesn't say.
    mutating func look(at body: inout AnswerBody, _ question: Question) async {
      guard [200, 203].contains(status) else { return }
      if question.decodes, encoding == "gzip", isPackedByItself(question) {
        isUnpacked = await body.look(GzipBeginning.isOther) ?? true
      }
      if question.decodes || encoding == nil {
        guard question.hasPart || contentType.isEmpty || isPage && Self.mayBeNoPage(question.name) else {
          return
        }
        beginsAsPage = await body.look(Self.isPage) ?? false
      } else if encoding == "gzip", isPackedByItself(question) {
        isPackedTwice = await body.look(GzipBeginning.isPackedTwice) ?? false
      } else if encoding == "deflate" {
        isPackedBare = await body.look(Self.isBareDeflate) ?? false
      }
    }

    /// Whether the zlib header that must come first is missing; nil if more bytes are needed. RFC 1950, section 2.2.
    private static func isBareDeflate(_ beginning: some Sequence<UInt8>) -> Bool? {
      let head = beginning.prefix(2).map { Int($0) }
      return head.count < 2 ? nil : head[0] & 15 != 8 || (head[0] << 8 | head[1]) % 31 != 0
    }
  }
#endif
