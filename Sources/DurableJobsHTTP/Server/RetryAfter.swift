#if HTTP
  import Foundation
  import NIOHTTP1

  /// When a server says to come again: after seconds, or at a date.
  struct RetryAfter: Equatable {
    let text: String
    /// The time of the server's clock, to which its dates refer.
    let now: Date?
    /// The whole server is overloaded, not only for this request.
    let isForAll: Bool

    /// How long from now.
    func wait(now: Date) -> Duration? { Self.wait(text, now: self.now ?? now) }

    /// The longest wait that a server is believed.
    static let longest = Duration.seconds(24 * 3600)

    static func wait(_ text: String, now: Date) -> Duration? {
      let text = text.trimmingCharacters(in: .whitespaces)
      let seconds: Double
      if let number = Double(text), text.allSatisfy(\.isNumber) {
        seconds = number
      } else if let date = HTTPDate.date(text) {
        seconds = date.timeIntervalSince(now)
      } else {
        return nil
      }
      return .seconds(min(max(seconds, 0), Double(longest.components.seconds)))
    }
  }

  extension RetryAfter {
    /// Nil if an answer does not say.
    init?(_ headers: HTTPHeaders, status: Int) {
      guard let text = headers.first(name: "Retry-After") else { return nil }
      let now = headers.first(name: "Date").flatMap(HTTPDate.date)
      self.init(text: text, now: now, isForAll: [429, 503].contains(status))
    }
  }

  extension RetryAfter {
    /// Whether the same request may get a better answer than that status later: the server is overloaded, met an error
    /// that may pass, or says when to come again. What it can't do at all (501, 505) it can't do then.
    static func mayPass(_ status: Int, _ retryAfter: RetryAfter?) -> Bool {
      switch status {
      case 408, 425, 429: true
      case 400..<500: retryAfter != nil
      default: status >= 500 && status != 501 && status != 505
      }
    }
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`, and the two older formats that a recipient must read. RFC 9110, section 5.6.7.
  enum HTTPDate {
    private static let formats = [
      "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
    ]

    static func date(_ text: String) -> Date? {
      let text = text.split(separator: " ").joined(separator: " ")
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = TimeZone(secondsFromGMT: 0)
      for format in formats {
        formatter.dateFormat = format
        if let date = formatter.date(from: text) { return date }
      }
      return nil
    }
  }
#endif
