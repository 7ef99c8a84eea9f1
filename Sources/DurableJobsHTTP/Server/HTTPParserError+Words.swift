#if HTTP
  import NIOHTTP1

  extension HTTPParserError {
    /// What a server sent that the parser does not take, for a person. Its own words are for who knows the parser.
    var words: String {
      switch self {
      case .invalidConstant, .invalidVersion:
        "what it sends doesn't begin with 'HTTP/1.1'. A port of https, or of no web server, looks the same"
      case .invalidStatus: "its answer has no status of three digits"
      case .invalidHeaderToken, .invalidCharactersUsed: "a header of its answer has characters that none may have"
      case .headerOverflow: "the headers of its answer are longer than what is read of them"
      // Of these the parser doesn't tell more.
      case .invalidContentLength:
        "the Content-Length of its answer is not a number that can be read, or it tells in two ways where it ends"
      case .unexpectedContentLength: "its answer tells in two ways where it ends, as by two headers Content-Length"
      case .invalidChunkSize: "a chunk of its answer begins without a length that can be read"
      case .lfExpected, .strictModeAssertion:
        "a line of its answer's head, or of a chunk, doesn't end as lines do there"
      case .invalidEOFState: "it closed the connection before the end of its answer"
      case .closedConnection, .trailingGarbage: "it sends more after an answer that was to be its last"
      case .unknown:
        "its answer has a Transfer-Encoding that none may have, or tells in two ways where it ends, as by a Content-Length "
          + "too, or has a line that doesn't end as lines do there"
      // Of requests, or of the parser itself.
      default: "its answer can't be read"
      }
    }
  }
#endif
