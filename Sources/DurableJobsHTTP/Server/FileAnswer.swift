#if HTTP
  import Foundation
  import NIOHTTP1

  /// The head of a server's answer to a request for a file, and what it means for what is already here: the rules of
  /// resuming, without a connection or a file. RFC 9110, sections 13 to 15.
  struct FileAnswer {
    var status: Int
    let headers: HTTPHeaders
    /// Without its parameters.
    let contentType: String
    var end: BodyEnd
    /// It came after a redirect to another path.
    var isFromElsewhere = false
    /// Where the answer is from, as in ``FileVersion``.
    var place: String?
    var source: String?
    /// As whom it was asked for, as in ``FileVersion``.
    var users: String?
    /// Its first bytes show a page, whatever its head says.
    var beginsAsPage = false
    /// Its first bytes show a compressed file that was compressed again for transfer.
    var isPackedTwice = false
    /// Its first bytes, as the client decoded them, are not those of a compressed file.
    var isUnpacked = false
    /// Its first bytes lack the header that tells how it is compressed.
    var isPackedBare = false
    /// How many bytes of the file its body had, where only its end told that: then its meaning is to be asked for again.
    var length: Int64?

    init(status: Int, headers: HTTPHeaders, version: HTTPVersion) {
      self.status = status
      self.headers = headers
      contentType = Self.contentType(headers)
      end = BodyEnd(headers, version)
    }

    /// What was requested.
    struct Question {
      /// If not 0, the range from there on was requested, of which some bytes may be here.
      var offset: Int64 = 0
      /// Bytes that are here, whatever was requested.
      var here: Int64 = 0
      /// What is known about the file from an earlier answer.
      var known = FileVersion()
      /// The size that the whole file must have.
      var size: Int64?
      var hasChecksum = false
      /// The last bytes that are here were requested, too, to be compared.
      var hasProof = false
      /// Whether a body may end with its connection.
      var acceptsUnknownLength = false
      /// Bytes are here, or were when this attempt began, whether or not the rest of them can be requested.
      var hasPart = false
      /// Whether the client decodes encodings.
      var decodes = false
      /// The name of the file, for its extension.
      var name = ""
      /// Text was sent in place of its rest so often that it is the file by now.
      var hasBecomeText = false
      /// That name applies whatever the server calls the file.
      var isNameGiven = false
    }

    enum Verdict {
      /// The body belongs at `from`. It must end at `until`, if that is known, which may be before the file's end.
      case body(from: Int64, until: Int64?, FileVersion)
      /// All bytes are here.
      case complete
      /// As many bytes are here as the server has, of whichever version: ask again, for the last byte.
      case askForLastByte
      /// The answer does not fit what is here: ask again, for the whole file.
      case askForAll(because: String)
      /// The body is encoded despite the request: ask again with a client that decodes.
      case askDecoded
      /// Decoded, the body is not the compressed file that its name promises: ask again with a client that doesn't decode.
      case askAsSent(because: String)
      case failed(DownloadError)
      /// Another attempt may succeed, not before `after`, if the server said so.
      case failedForNow(DownloadError, retryAfter: RetryAfter?)
    }

    /// Where else to ask; nil for an answer that has a verdict.
    var redirect: String? { isRedirect ? headers.location : nil }

    private var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

    func verdict(on question: Question) -> Verdict {
      if case .coded(let coding) = end, [200, 203, 206].contains(status) {
        return .failed(
          DownloadError(
            .unusableAnswer,
            "the server sends the file in the transfer coding '\(coding)', which it was not asked to do"))
      }
      return switch status {
      case 200, 203: whole(question)
      case 206 where question.offset > 0: part(question)
      case 206: isWhole ? whole(question) : .failedForNow(refusal, retryAfter: nil)
      case 416 where question.offset > 0: beyondTheEnd(question)
      case _ where isRedirect:
        .failed(DownloadError(.unusableAnswer, "the server redirects (\(status)) without saying where to"))
      case _ where RetryAfter.mayPass(status, retryAfter): .failedForNow(refusal, retryAfter: retryAfter)
      default: .failed(refusal)
      }
    }

    /// The value of a header about the file; nil if it is missing, or has two values.
    private func mark(_ name: String) -> String? {
      let values = Set(headers[name].map { $0.trimmingCharacters(in: .whitespaces) })
      return values.count == 1 ? values.first.flatMap { $0.isEmpty ? nil : $0 } : nil
    }

    var lastModified: Date? { mark("Last-Modified").flatMap(HTTPDate.date) }

    private var date: Date? { headers.first(name: "Date").flatMap(HTTPDate.date) }

    private var retryAfter: RetryAfter? { RetryAfter(headers, status: status) }

    /// Whether it says that the rest of the file can be requested; nil if it says nothing.
    var takesRanges: Bool? { headers.first(name: "Accept-Ranges").map { $0.lowercased().contains("bytes") } }

    /// The name that the server gives the file.
    var fileName: String? { headers.first(name: "Content-Disposition").flatMap(ContentDisposition.fileName) }

    private func whole(_ question: Question) -> Verdict {
      // The length of an encoded body says nothing about the file.
      var total = length
      if total == nil, case .after(let bytes) = end, !question.decodes { total = bytes }
      // A range that is told to be all of it tells where that ends, too.
      if let told = wholeRange?.total, encoding == nil {
        guard total ?? told == told else { return .askForAll(because: "the server tells two lengths of the file") }
        total = told
      }
      // What is packed by itself is kept as it is, with the length that the head tells.
      let isPackedFile = encoding == "gzip" && isPackedByItself(question) && !isPackedTwice
      let fileSize = encoding == nil || isPackedFile ? total : length
      if isInPlaceOfFile(question, total: fileSize) {
        let isOfRest = text(inPlaceOfRest: question) != nil
        return .failedForNow(isPage ? .page : .message(contentType, isOfRest: isOfRest), retryAfter: nil)
      }
      if isOnlyPart { return .askForAll(because: "the server sent a part of the file as if it were all of it") }
      // Also where all was asked for, because of an answer before: what is here can be gone on with later.
      let hasRest = question.here > 0 && (question.hasChecksum || question.known.validator != nil)
      if hasRest, total == 0, self.version(total: 0).validator == nil {
        return .failedForNow(
          DownloadError(.unusableAnswer, "the server sent nothing in place of the rest of the file"), retryAfter: nil)
      }
      // A weak tag is what a program gives to each word that it says, and what was altered on the way has no version.
      if hasRest, question.known.validator != nil, status == 203 || lastModified == nil,
        !self.version(total: nil).hasStrongTag, isOther(than: question, total: fileSize)
      {
        let size = fileSize.map { "\($0) bytes" } ?? "something"
        return .failedForNow(
          DownloadError(
            .unusableAnswer,
            "the server sent \(size)\(contentType.isEmpty ? "" : " of \(contentType)") in place of the rest of the file, and doesn't say "
              + "that the file has changed; if it has, remove what came of it"), retryAfter: nil)
      }
      switch encoding {
      case "gzip" where isUnpacked:
        return .askAsSent(because: "the server packs the file at times, and at times does not")
      case "gzip" where isPackedFile: break
      case "deflate" where isPackedBare:
        return .failed(
          DownloadError(
            .unusableAnswer,
            "the server packs the file with bare deflate, without the zlib header that belongs to it, which can't be undone "
              + "here; curl --compressed can"))
      case "gzip", "deflate": if !question.decodes { return .askDecoded }
      case nil: break
      case let other?:
        return .failed(
          DownloadError(
            .unusableAnswer, "the server sends the file in the encoding '\(other)', which it was asked not to do"))
      }
      if let size = question.size {
        if let total, total != size {
          let error = DownloadError.wrongSize(total, wanted: size)
          return mayPass(question) ? .failedForNow(error, retryAfter: nil) : .failed(error)
        }
      } else if let total, let known = question.known.total, total != known, isToldToBe(question.known) {
        // One of the two lengths is wrong: the known one, if what came of it has ended just where the other one says.
        // A cache may have a copy that was cut at the same place.
        guard total > 0, total == question.here, headers.first(name: "Age") == nil, headers.first(name: "Via") == nil
        else {
          return .failedForNow(
            DownloadError(
              .unusableAnswer,
              "the server says that this is the file that has begun to come, by its ETag or its date, and that it has \(total) bytes, "
                + "not \(known); if that is right, say so with --size \(total)"), retryAfter: nil)
        }
      }
      guard end != .untold || question.hasChecksum || question.size != nil || question.acceptsUnknownLength else {
        let error = DownloadError(
          .unusableAnswer,
          "the server doesn't say where the file ends, so a cut connection would look like its end; "
            + "give its --sha256 or its --size, or take what comes with --accept-unknown-length")
        // It did say so of what is here.
        return hasRest && question.known.total != nil ? .failedForNow(error, retryAfter: nil) : .failed(error)
      }
      var version = question.decodes ? FileVersion(users: users) : version(total: total)
      version.isPage = isPage ? true : nil
      if !question.decodes { version.coding = encoding }
      // The rest of a decoded body can't be requested either.
      return .body(from: 0, until: total, version)
    }

    /// Whether a body that is not what was asked for may be a passing answer: the server had another when a part of it came,
    /// or it is text where the name says that there is none.
    func mayPass(_ question: Question) -> Bool {
      question.hasPart || areWordsInPlaceOfFile(named: question.name)
    }

    /// Whether it says that it is the file of this strong tag. What packs or cuts an answer on the way leaves the date, and
    /// takes the tag away or makes it weak.
    private func isToldToBe(_ known: FileVersion) -> Bool {
      guard known.hasStrongTag, let tag = known.entityTag, known.place ?? place == place else { return false }
      guard let told = mark("ETag"), status != 203 else {
        return known.lastModified != nil && known.lastModified == mark("Last-Modified")
      }
      return told == tag || told == "W/\(tag)" && known.lastModified == mark("Last-Modified")
    }

    /// Its size or its type shows that it can't be the file that has begun to come.
    private func isOther(than question: Question, total: Int64?) -> Bool {
      if let total, total < question.here || status == 203 && question.known.total ?? total != total { return true }
      return !contentType.isEmpty && question.known.type.map { $0 != contentType } ?? false
    }

    /// A range that nobody asked for is all of the file.
    private var isWhole: Bool {
      guard let range = wholeRange, contentType != "multipart/byteranges" else { return false }
      if case .after(let bytes) = end { return bytes == range.total }
      return true
    }

    /// Nil if there is none that can be read, or there are two.
    private var toldRange: ContentRange? { ContentRange(mark("Content-Range")) }

    /// The range, if it is one of all bytes.
    private var wholeRange: ContentRange? {
      toldRange.flatMap { range in
        range.first == 0 && range.last >= 0 && range.last == range.total.map { $0 - 1 } ? range : nil
      }
    }

    /// It has a range, which does not belong in an answer with a whole file, and which nothing says to be all of it.
    private var isOnlyPart: Bool {
      guard let range = ContentRange(headers.first(name: "Content-Range")) else { return false }
      return range.last >= range.first && wholeRange == nil
    }

    /// RFC 9110, section 15.3.7.
    private func part(_ question: Question) -> Verdict {
      guard let range = toldRange, let total = range.total,
        contentType != "multipart/byteranges"
      else { return .askForAll(because: "the server's range can't be used") }
      guard encoding == nil || isPackedByItself(question) else { return .askDecoded }
      // A label that the beginning had not says that this part was packed for the way.
      guard encoding == nil || encoding == question.known.coding else {
        return .askForAll(because: "the server packs the rest of the file, and did not its beginning")
      }
      guard range.first == question.offset, range.last >= range.first, range.last < total else {
        return .askForAll(because: "the server sent another range than it was asked for")
      }
      if case .after(let bytes) = end, bytes != range.last + 1 - range.first {
        return .askForAll(because: "the server's range has another length than it says")
      }
      let version = version(total: total)
      guard question.known.total.map({ $0 == total }) ?? true, !question.known.contradicts(version) else {
        return .askForAll(because: "the file has changed on the server")
      }
      guard question.hasChecksum || question.known.isRepeated(by: version) else {
        return .askForAll(because: "the server doesn't say which version of the file its range is of")
      }
      guard question.hasProof || isFromSource(question) else {
        return .askForAll(because: "the server redirects to another query than before")
      }
      if let size = question.size, total != size { return .failed(.wrongSize(total, wanted: size)) }
      // What is here is of the known version, whatever else is said about the rest.
      var known = question.known
      (known.total, known.users) = (total, users)
      return .body(from: range.first, until: range.last + 1, known)
    }

    /// Whether it comes from where the bytes that are here came from, or its own are told by a checksum.
    private func isFromSource(_ question: Question) -> Bool {
      question.hasChecksum || question.known.source ?? source == source
    }

    private func beyondTheEnd(_ question: Question) -> Verdict {
      guard let total = toldRange?.total,
        total == max(question.offset, question.here),
        question.known.total.map({ $0 == total }) ?? true,
        !question.known.contradicts(version(total: total)), !question.hasProof, isFromSource(question)
      else { return .askForAll(because: "the server refused the rest of the file") }
      return question.hasChecksum || question.known.isRepeated(by: version(total: total)) ? .complete : .askForLastByte
    }

    var encoding: String? { ContentCoding.of(headers) }

    func version(total: Int64?) -> FileVersion {
      // If something on the way altered the file, the server's validators do not apply to it.
      guard status != 203 else {
        return FileVersion(
          total: total, wasJustModified: wasJustModified, place: place, source: source, users: users)
      }
      return FileVersion(
        total: total, entityTag: mark("ETag"), lastModified: mark("Last-Modified"), wasJustModified: wasJustModified,
        place: place, source: source, users: users, type: contentType.isEmpty ? nil : contentType)
    }

    /// The file may change once more within the second that its date names; that can't be told if the answer has no
    /// date of its own. RFC 9110, section 8.8.2.2.
    var wasJustModified: Bool {
      guard mark("Last-Modified") != nil else { return false }
      guard let lastModified, let date else { return true }
      return date.timeIntervalSince(lastModified) < 1
    }

    private var refusal: DownloadError {
      let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
      let advice =
        switch status {
        case 401: "; give credentials with --header 'Authorization: …'"
        default: ""
        }
      var error = DownloadError(.refused, "the server answered \(status)\(reason.isEmpty ? "" : " \(reason)")\(advice)")
      error.status = status
      return error
    }

    /// A file that is itself compressed is often served as if it had been compressed for transfer. Its type tells if
    /// its name does not; an extension of digits alone is a version.
    func isPackedByItself(_ question: Question) -> Bool {
      let name = question.isNameGiven ? question.name : fileName ?? question.name
      let ending = (name as NSString).pathExtension.lowercased()
      guard ending.contains(where: \.isLetter) else {
        return ["application/gzip", "application/x-gzip"].contains(contentType)
      }
      return ["gz", "tgz", "gzip", "svgz", "z"].contains(ending)
    }
  }

  extension HTTPHeaders {
    /// Where a redirect leads; nil if it does not say.
    var location: String? { first(name: "Location").flatMap { $0.isEmpty ? nil : $0 } }
  }

  extension DownloadError {
    fileprivate static func wrongSize(_ size: Int64, wanted: Int64) -> DownloadError {
      DownloadError(.wrongContent, "the server's file has \(size) bytes, not \(wanted)")
    }
  }
#endif
