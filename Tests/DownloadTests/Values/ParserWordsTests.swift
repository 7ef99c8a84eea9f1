#if HTTP
  import NIOCore
  import NIOHTTP1
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct ParserWordsTests {
    static let errors: [HTTPParserError] = [
      .invalidCharactersUsed, .trailingGarbage, .invalidEOFState, .headerOverflow, .closedConnection, .invalidVersion,
      .invalidStatus, .invalidMethod, .invalidURL, .lfExpected, .invalidHeaderToken, .invalidContentLength,
      .unexpectedContentLength, .invalidChunkSize, .invalidConstant, .invalidInternalState, .strictModeAssertion,
      .paused,
      .unknown,
    ]

    @Test(arguments: errors) func `what the parser does not take is told in other words than its own`(
      error: HTTPParserError
    ) throws {
      let message = try #require(DownloadError.connection(error, "files.example")).message
      #expect(message.hasPrefix("files.example "))
      #expect(!message.contains(error.debugDescription), "\(message)")
      for word in ["assertion", "constant", "parser", "overflow"] { #expect(!message.contains(word), "\(message)") }
    }

    @Test(arguments: [ChannelError.ioOnClosedChannel, NIOHTTPDecoderError.unsolicitedResponse] as [any Error])
    func `so is what else went wrong with a connection`(error: any Error) throws {
      let message = try #require(DownloadError.connection(error, "files.example")).message
      #expect(!message.contains("Error"), "\(message)")
    }
  }
#endif
