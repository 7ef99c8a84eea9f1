#if HTTP
  import Foundation
  import NIOHTTP1

  /// What the head of an answer means for the request that it answers. RFC 9110, section 15.
  enum RequestVerdict: Equatable {
    case success
    /// Ask there, with the same method and the same body.
    case redirect(to: String)
    /// Another attempt would get the same answer.
    case failed(String)
    /// Another attempt may go better, not before that time, if the server said so.
    case failedForNow(String, RetryAfter?)

    /// What was known of the request before this answer.
    struct Past {
      /// An earlier sending may have arrived.
      var mayHaveArrived = false
      /// The server can tell by its key that it is the same.
      var hasKey = false
    }

    init(status: Int, _ headers: HTTPHeaders, to method: SendRequest.Method, past: Past = Past()) {
      let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
      let answer = "the server answered \(status)\(reason.isEmpty ? "" : " \(reason)")"
      let location = headers.location
      let retryAfter = RetryAfter(headers, status: status)
      self =
        switch (status, location) {
        case (200..<300, _): .success
        case (307, let target?), (308, let target?): .redirect(to: target)
        case (301...303, let target?) where method.isQuestion: .redirect(to: target)
        // Browsers would ask there, without the body. Nobody could tell then whether what was sent has arrived.
        case (301...303, let target?):
          .failed(
            "\(answer), and leads to \(target.withoutSecrets). Whether it has done what was asked it does not say; if it "
              + "has not, send the request there")
        case (409, _) where past.mayHaveArrived && past.hasKey:
          .failedForNow("\(answer); an earlier sending with the same key may be at work still", retryAfter)
        case _ where RetryAfter.mayPass(status, retryAfter): .failedForNow(answer, retryAfter)
        case (404, _) where past.mayHaveArrived && method == .delete,
          (410, _) where past.mayHaveArrived && method == .delete,
          (409, _) where past.mayHaveArrived, (412, _) where past.mayHaveArrived:
          .failed("\(answer); an earlier sending, whose answer did not come, may have done it")
        case (301...303, nil), (307...308, nil): .failed("\(answer), and doesn't say where to ask")
        default: .failed(answer)
        }
    }
  }

  extension Data {
    /// The beginning of a text, for the end of an error: in one line, without control characters. Empty if it is no text.
    package func asExcerpt(_ length: Int = 300) -> String {
      // The last character may be cut.
      let text = (0..<4).lazy.compactMap { String(validating: self.dropLast($0), as: UTF8.self) }.first ?? ""
      let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      var excerpt = ""
      for scalar in line.unicodeScalars.prefix(length) {
        let isControl = scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        excerpt += isControl ? #"\u{\#(String(scalar.value, radix: 16))}"# : String(scalar)
      }
      return excerpt + (line.unicodeScalars.count > length ? " …" : "")
    }
  }
#endif
