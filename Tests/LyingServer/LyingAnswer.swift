#if HTTP
  /// What the server does with a request: the truth, changed by what a test asks for.
  ///
  ///     server.serve("/a", .file(content).cut(after: 1000), .file(content))
  public struct LyingAnswer: Sendable, CustomStringConvertible {
    /// What becomes of a range that is asked for.
    public enum Ranges: Sendable {
      case honoured
      /// The whole file comes, with 200.
      case ignored
      /// What comes, and is said to come, begins this many bytes off.
      case shifted(Int64)
      /// At most this many bytes come, as the answer says.
      case atMost(Int64)
      /// The answer gives this as the whole file's size.
      case ofTotal(Int64)
      /// As a part of a `multipart/byteranges`.
      case multipart
      /// The same with a `Content-Range`, as if it were none.
      case multipartWithRange
      /// What comes is said to be this much longer than the range.
      case lengthOff(by: Int64)
      /// 206 without a `Content-Range`.
      case unsaid
      /// 416, with or without the file's size.
      case refused(tellingSize: Bool)
    }

    /// How the end of the body is told.
    public enum Framing: Hashable, Sendable {
      case length
      /// The length that is told is this much more than what comes; the connection closes after that.
      case lengthOff(by: Int64)
      case chunked
      /// Without the last chunk.
      case chunkedCut
      /// By the end of the connection, and in no other way.
      case close
      /// Likewise, with a `Transfer-Encoding` that says this.
      case coded(String)
    }

    enum Kind: Sendable {
      case file
      /// The body goes with this status, whatever was asked for.
      case status(Int)
      case silence
      case hangUp
      case reset
    }

    var kind: Kind
    var content: Content
    /// In the order in which they are sent.
    var fields: [(name: String, value: String)] = []
    var ranges = Ranges.honoured
    var heedsIfRange = true
    var framing = Framing.length
    /// After so many bytes of this answer's body it waits until the test lets it go on.
    var holds: [Int64] = []
    /// After so many bytes of this answer's body it breaks off.
    var cut: Int64?
    var bytesPerSecond: Int64?
    var isLatin1 = false
    /// Headers that are left out of an answer with a range.
    var unrepeated: [String] = []
    var version = "HTTP/1.1"
    var interim = ""
    var surplus: String?

    // MARK: Whole answers

    public static let etag = "\"first\""
    public static let lastModified = "Mon, 05 Jan 2026 10:20:30 GMT"
    /// Later than any change that a test tells of.
    public static let date = "Sat, 02 Jan 2100 00:00:00 GMT"

    /// The file, its ranges, and what is needed to go on: a strong entity tag and the time of its last change.
    public static func file(
      _ content: Content, etag: String? = etag, lastModified: String? = lastModified
    ) -> LyingAnswer {
      var answer = LyingAnswer(kind: .file, content: content).with("Accept-Ranges", "bytes")
      answer = answer.with("Content-Type", "application/octet-stream")
      if let etag { answer = answer.with("ETag", etag) }
      // Without the time of the answer, that of the last change would tell no versions apart.
      if let lastModified { answer = answer.with("Last-Modified", lastModified).with("Date", date) }
      return answer
    }

    /// A page for people, as a server shows it: with an error, or with 200 in place of what was asked for.
    public static func page(_ status: Int, _ text: String = "<html><body>Sorry.</body></html>") -> LyingAnswer {
      LyingAnswer(kind: .status(status), content: Content(text)).with("Content-Type", "text/html; charset=utf-8")
    }

    public static func redirect(_ status: Int = 302, to location: String) -> LyingAnswer {
      page(status, "<html><body>Moved.</body></html>").with("Location", location)
    }

    /// It takes the request and never says a word, until the test lets it go on: then it hangs up.
    public static let silence = LyingAnswer(kind: .silence, content: Content(""))
    /// It takes the request and closes the connection.
    public static let hangUp = LyingAnswer(kind: .hangUp, content: Content(""))
    /// It takes the request and resets the connection, as one whose state was lost.
    public static let reset = LyingAnswer(kind: .reset, content: Content(""))

    // MARK: Changes

    /// With a header, in place of one of that name.
    public func with(_ name: String, _ value: String) -> LyingAnswer {
      changed {
        $0.fields.removeAll { $0.name.lowercased() == name.lowercased() }
        $0.fields.append((name, value))
      }
    }

    /// Without the header of that name.
    public func without(_ name: String) -> LyingAnswer {
      changed { $0.fields.removeAll { $0.name.lowercased() == name.lowercased() } }
    }

    /// With one more header, beside those of that name.
    public func adding(_ name: String, _ value: String) -> LyingAnswer { changed { $0.fields.append((name, value)) } }

    /// Its head is of one byte for each character, and not UTF-8.
    public func inLatin1() -> LyingAnswer { changed { $0.isLatin1 = true } }
    /// After an answer of that status, which is none yet, with a length that means nothing.
    public func after(interim status: Int) -> LyingAnswer {
      changed { $0.interim = "HTTP/1.1 \(status) Wait\r\nContent-Length: 5\r\n\r\n" }
    }
    public func speaking(_ version: String) -> LyingAnswer { changed { $0.version = version } }
    /// These headers are not in an answer with a range.
    public func notRepeating(_ names: String...) -> LyingAnswer { changed { $0.unrepeated = names } }
    public func ranges(_ ranges: Ranges) -> LyingAnswer { changed { $0.ranges = ranges } }
    /// It sends the range that was asked for, whatever the file was when the client saw it.
    public func ignoringIfRange() -> LyingAnswer { changed { $0.heedsIfRange = false } }
    public func framed(_ framing: Framing) -> LyingAnswer { changed { $0.framing = framing } }
    /// May be said several times, for one hold after the other.
    public func holding(after bytes: Int64) -> LyingAnswer { changed { $0.holds.append(bytes) } }
    /// After so many bytes it waits until the test lets it go on, and then breaks off: what was sent can arrive before.
    public func breaking(after bytes: Int64) -> LyingAnswer { holding(after: bytes).cut(after: bytes) }
    public func cut(after bytes: Int64) -> LyingAnswer { changed { $0.cut = bytes } }
    /// After the whole answer, and in one piece with its body, it sends this, and keeps the connection.
    public func followed(by surplus: String) -> LyingAnswer { changed { $0.surplus = surplus } }
    public func paced(bytesPerSecond: Int64) -> LyingAnswer { changed { $0.bytesPerSecond = bytesPerSecond } }

    public var description: String { "\(kind), \(content), \(ranges), \(framing)" }

    private func changed(_ change: (inout LyingAnswer) -> Void) -> LyingAnswer {
      var answer = self
      change(&answer)
      return answer
    }
  }
#endif
