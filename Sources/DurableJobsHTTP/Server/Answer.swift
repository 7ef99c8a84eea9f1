#if HTTP
  import Foundation
  import NIOHTTP1

  /// The head of a server's answer to a request for a file, and what it means for what is here already: the rules of
  /// resuming, without a connection or a file. RFC 9110, sections 13 to 15.
  struct Answer {
    var status: Int
    var headers: HTTPHeaders
    /// The protocol itself tells where the body ends: a length, chunks, or HTTP/2.
    var endIsTold: Bool

    init(status: Int, headers: HTTPHeaders, isHTTP1: Bool) {
      self.status = status
      self.headers = headers
      endIsTold = !isHTTP1 || headers.contains(name: "Content-Length") || headers.contains(name: "Transfer-Encoding")
    }

    /// What was asked for.
    struct Question {
      /// Bytes that are here; a range from there on was asked for if it is more than 0.
      var offset: Int64 = 0
      /// What is known of the file from an earlier answer.
      var known = FileVersion()
      /// The size that the whole file must have.
      var size: Int64?
      var hasChecksum = false
      /// The client undoes encodings.
      var decodes = false
      /// The name of the file, for what its ending says.
      var name = ""
    }

    enum Verdict {
      /// The body belongs at `from`. `until` is where it must end, if that is known, which may be before the file's.
      case body(from: Int64, until: Int64?, FileVersion)
      /// All bytes are here.
      case complete
      /// The answer does not fit to what is here: ask again, for the whole file.
      case askForAll(because: String)
      /// The body is encoded, though it was asked not to be: ask again with a client that decodes.
      case askDecoded
      case redirect(to: String)
      case failed(DownloadError)
      /// Another attempt may go better, not before `after`, if the server said so.
      case failedForNow(DownloadError, retryAfter: String?)
    }

    func verdict(on question: Question) -> Verdict {
      switch status {
      case 200: whole(question)
      case 206 where question.offset > 0: part(question)
      case 416 where question.offset > 0: beyondTheEnd(question)
      case 301, 302, 303, 307, 308:
        headers.first(name: "Location").map { .redirect(to: $0) }
          ?? .failed(DownloadError(.unusableAnswer, "the server redirects (\(status)) without saying where to"))
      case 408, 425, 429, 500...: .failedForNow(refusal, retryAfter: headers.first(name: "Retry-After"))
      default: .failed(refusal)
      }
    }

    var lastModified: Date? { headers.first(name: "Last-Modified").flatMap(HTTPDate.date) }

    /// The name that the server gives the file.
    var fileName: String? { headers.first(name: "Content-Disposition").flatMap(ContentDisposition.fileName) }

    /// A page for a person, as a server or a gate to the network sends in place of a file.
    var isPage: Bool { headers.first(name: "Content-Type")?.lowercased().hasPrefix("text/html") ?? false }

    private func whole(_ question: Question) -> Verdict {
      switch encoding {
      case "gzip" where Self.isPackedName(question.name), "x-gzip" where Self.isPackedName(question.name): break
      case "gzip", "x-gzip", "deflate": if !question.decodes { return .askDecoded }
      case nil: break
      case let other?:
        return .failed(
          DownloadError(
            .unusableAnswer, "the server sends the file in the encoding '\(other)', which it was asked not to do"))
      }
      // The length of an encoded body says nothing about the file.
      let total = question.decodes ? nil : headers.first(name: "Content-Length").flatMap { Int64($0) }
      if let size = question.size, let total, total != size { return .failedOrPage(isPage, size: size, total) }
      guard endIsTold || question.hasChecksum || question.size != nil else {
        return .failed(
          DownloadError(
            .unusableAnswer,
            "the server doesn't say where the file ends, so a cut connection would look like its end; "
              + "give its --sha256 or its --size"))
      }
      // Nor can the rest of a decoded body be asked for.
      return .body(from: 0, until: total, question.decodes ? FileVersion() : version(total: total))
    }

    private func part(_ question: Question) -> Verdict {
      guard let range = ContentRange(headers.first(name: "Content-Range")), let total = range.total else {
        return .askForAll(because: "the server's range can't be used")
      }
      guard encoding == nil || Self.isPackedName(question.name) else { return .askDecoded }
      guard range.first == question.offset, range.last >= range.first, range.last < total else {
        return .askForAll(because: "the server sent another range than it was asked for")
      }
      let version = version(total: total)
      guard question.known.total.map({ $0 == total }) ?? true, !question.known.contradicts(version) else {
        return .askForAll(because: "the file has changed on the server")
      }
      if let size = question.size, total != size { return .failedOrPage(isPage, size: size, total) }
      return .body(from: range.first, until: range.last + 1, version)
    }

    private func beyondTheEnd(_ question: Question) -> Verdict {
      guard let total = ContentRange(headers.first(name: "Content-Range"))?.total, total == question.offset,
        question.known.total.map({ $0 == total }) ?? true,
        !question.known.contradicts(version(total: total))
      else { return .askForAll(because: "the server refused the rest of the file") }
      return .complete
    }

    private var encoding: String? {
      let encoding = headers[canonicalForm: "Content-Encoding"].joined(separator: ", ").lowercased()
      return encoding.isEmpty || encoding == "identity" ? nil : encoding
    }

    private func version(total: Int64?) -> FileVersion {
      FileVersion(
        total: total, entityTag: headers.first(name: "ETag"), lastModified: headers.first(name: "Last-Modified"),
        wasJustModified: wasJustModified)
    }

    /// The file may change once more within the second that its date names.
    private var wasJustModified: Bool {
      guard let lastModified, let date = headers.first(name: "Date").flatMap(HTTPDate.date) else { return false }
      return date.timeIntervalSince(lastModified) < 1
    }

    private var refusal: DownloadError {
      let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
      let advice =
        switch status {
        case 401: "; give credentials with --header 'Authorization: …'"
        default: ""
        }
      return DownloadError(.refused, "the server answered \(status)\(reason.isEmpty ? "" : " \(reason)")\(advice)")
    }

    /// A file that is packed by itself is often served as if it had been packed for the way.
    private static func isPackedName(_ name: String) -> Bool {
      ["gz", "tgz", "gzip", "svgz", "z"].contains((name as NSString).pathExtension.lowercased())
    }
  }

  extension Answer.Verdict {
    fileprivate static func failedOrPage(_ isPage: Bool, size: Int64, _ total: Int64) -> Self {
      isPage
        ? .failedForNow(DownloadError.page(in: "place of the file (\(total) bytes, not \(size))"), retryAfter: nil)
        : .failed(DownloadError(.wrongContent, "the server's file has \(total) bytes, not \(size)"))
    }
  }

  extension DownloadError {
    static func page(in place: String) -> DownloadError {
      DownloadError(.wrongContent, "the server sent a web page in \(place); is there a log-in before this network?")
    }
  }

  /// What tells one version of a file on a server from another.
  struct FileVersion: Codable, Hashable, Sendable {
    var total: Int64?
    var entityTag: String?
    var lastModified: String?
    var wasJustModified: Bool?

    /// What a request for the rest may depend on (`If-Range`): a strong tag, or where there is none a date that can't
    /// name two versions. RFC 9110, sections 8.8.2.2 and 13.1.5.
    var validator: String? {
      if let entityTag { return entityTag.hasPrefix("W/") ? nil : entityTag }
      return wasJustModified == true ? nil : lastModified
    }

    /// Both say which version they are, and differ.
    func contradicts(_ other: FileVersion) -> Bool {
      if let entityTag, let tag = other.entityTag { return entityTag != tag }
      if let lastModified, let date = other.lastModified { return lastModified != date }
      return false
    }
  }

  /// `bytes 100-199/1000`, `bytes */1000`.
  struct ContentRange: Equatable {
    var first: Int64 = 0
    var last: Int64 = -1
    var total: Int64?

    init?(_ text: String?) {
      guard let text = text?.trimmingCharacters(in: .whitespaces), text.lowercased().hasPrefix("bytes") else {
        return nil
      }
      let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2 else { return nil }
      total = Int64(parts[1])
      if parts[0] == "*" { return }
      let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
      guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0 else { return nil }
      (self.first, self.last) = (first, last)
    }
  }
#endif
