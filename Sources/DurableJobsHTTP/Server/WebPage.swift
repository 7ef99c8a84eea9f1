#if HTTP
  import Foundation
  import NIOHTTP1

  /// Pages for people, which a network's log-in gate sends in place of whatever was requested.
  extension FileAnswer {
    /// It is a page, and not sent as a file.
    var isPage: Bool { (isSaidToBePage || beginsAsPage) && !isAttachment }

    private var isAttachment: Bool {
      headers.first(name: "Content-Disposition")?.lowercased().hasPrefix("attachment") ?? false
    }

    private var isSaidToBePage: Bool { ["text/html", "application/xhtml+xml"].contains(contentType) }

    /// Whether bytes are the beginning of a page; nil if more of them are needed. As browsers decide it.
    static func isPage(_ beginning: some Sequence<UInt8>) -> Bool? {
      let mark: [UInt8] = [0xef, 0xbb, 0xbf]
      let spaces: [UInt8] = [0x09, 0x0a, 0x0c, 0x0d, 0x20]
      let bytes = Array(beginning.prefix(1024))
      let unknown: Bool? = bytes.count < 1024 ? nil : false
      if mark.starts(with: bytes) { return unknown }
      let text = (bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]).drop(while: spaces.contains)
      let letters = text.prefix(16).map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
      for tag in ["<!doctype html", "<html"].map({ Array($0.utf8) }) {
        if tag.starts(with: letters) { return unknown }
        if letters.starts(with: tag) { return spaces.contains(letters[tag.count]) || letters[tag.count] == 0x3e }
      }
      return false
    }

    static func contentType(_ headers: HTTPHeaders) -> String {
      let value = headers.first(name: "Content-Type")?.prefix { $0 != ";" } ?? ""
      return value.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// A page comes, of `total` bytes if that is known, where another file was requested or has begun; or a message for
    /// programs comes where the name says that the file is not one.
    func isInPlaceOfFile(_ question: Question, total: Int64?) -> Bool {
      if let total, total == question.size ?? question.known.total { return false }
      guard isPage else {
        return isMessage && Self.isNoMessage(named: question.name)
          || !question.hasBecomeText && isText(inPlaceOfRest: question)
      }
      if question.hasPart, question.known.isPage != true { return true }
      // What is declared as something else may begin so, too.
      guard isSaidToBePage || contentType.isEmpty else { return false }
      if isFromElsewhere, Self.hasEndingOfNoPage(question.name) { return true }
      if beginsAsPage, Self.mayBeNoPage(question.name) { return true }
      return question.size != nil && total != nil || Self.isNoPage(named: question.name)
    }

    /// What has begun as another type is no text now, whatever version that is said to be.
    private func isText(inPlaceOfRest question: Question) -> Bool {
      question.hasPart && question.known.type.map { !Self.isOfWords($0) } ?? false
        && areWordsInPlaceOfFile(named: question.name)
    }

    /// What tells text in place of the rest of a file from another such text, if it may be the file by now. One that says no
    /// version is none where the file had one.
    func text(inPlaceOfRest question: Question) -> String? {
      guard [200, 203].contains(status), !isPage, isText(inPlaceOfRest: question),
        !isMessage || !Self.isNoMessage(named: question.name)
      else { return nil }
      return version(total: nil).validator ?? (question.known.validator == nil ? "\(end)" : nil)
    }

    /// Whether it is meant for programs, as errors are, and not sent as a file.
    private var isMessage: Bool { Self.isOfMessages(contentType) && !isAttachment }

    private static func isOfMessages(_ type: String) -> Bool {
      ["json", "/xml", "+xml"].contains { type.hasSuffix($0) }
    }
    private static func isOfWords(_ type: String) -> Bool { isOfMessages(type) || type.hasPrefix("text/") }

    /// Text for people, where the name of the requested file says that it has none.
    func areWordsInPlaceOfFile(named name: String) -> Bool {
      guard Self.isOfWords(contentType), !isAttachment else { return false }
      return Self.isNoMessage(named: name) || !(name as NSString).pathExtension.contains(where: \.isLetter)
    }

    private static func isNoMessage(named name: String) -> Bool {
      isNoPage(named: name) && !wordyEndings.contains((name as NSString).pathExtension.lowercased())
    }

    /// Extensions of files that are not pages, and may be text.
    private static let wordyEndings: Set = [
      "asc", "csv", "dat", "db", "md5", "ps", "rtf", "sha256", "sha512", "sig",
    ]

    private static func isNoPage(named name: String) -> Bool {
      endings.contains((name as NSString).pathExtension.lowercased())
    }

    /// Whether it ends as names of files do, so that a page that is declared as one, and begins as one, was not asked for:
    /// not `Mr._Bean`, nor `index.html.en`.
    static func mayBeNoPage(_ name: String) -> Bool {
      let ending = (name as NSString).pathExtension
      let isUsual = ending.utf8.count < 10 && ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      let before = ((name as NSString).deletingPathExtension as NSString).pathExtension.lowercased()
      return isUsual && hasEndingOfNoPage(name) && !pageEndings.contains(before)
    }

    /// A file is asked for by its ending, if it has one. What has digits alone is a version.
    private static func hasEndingOfNoPage(_ name: String) -> Bool {
      let ending = (name as NSString).pathExtension.lowercased()
      return ending.contains(where: \.isLetter) && !pageEndings.contains(ending)
    }

    private static let pageEndings: Set = [
      "html", "htm", "html5", "xhtml", "xht", "shtml", "shtm", "stm", "php", "php3", "php4", "php5", "phtml", "asp",
      "aspx", "ashx", "mspx", "jsp", "jspx", "jspa", "jsf", "cgi", "pl", "do", "action", "cfm", "com", "org", "net",
    ]

    /// Extensions of files that are not pages.
    private static let endings = Set(
      """
      7z apk appimage br bz2 cab crate deb dmg exe gem gz img ipa iso jar lz lz4 lzma msi pkg qcow2 rar raw rpm snap tar \
      tbz2 tgz txz vdi vhd vhdx vmdk war whl xz z zip zst
      asc bin dat db gguf h5 md5 npy npz onnx parquet pt safetensors sha256 sha512 sig sqlite torrent
      azw3 csv djvu doc docx epub mobi odp ods odt pdf ppt pptx ps rtf xls xlsx
      avif bmp gif heic ico jpeg jpg png psd svgz tif tiff webp
      aac avi flac flv m4a m4b m4v mkv mov mp3 mp4 mpeg mpg oga ogg ogv opus wav webm wma wmv
      """.split(whereSeparator: \.isWhitespace).map(String.init))
  }

  extension DownloadError {
    static let page = page(with: "")

    static func message(_ type: String, isOfRest: Bool) -> DownloadError {
      DownloadError(
        .wrongContent,
        "the server sent \(type) in place of the file, as errors are told. "
          + (isOfRest
            ? "If it does so \(PartRecord.Text.enough) times in a row, and for four minutes, it is the file. " : "")
          + "If it is what you want, name it so: "
          + "-O NAME.\(type.hasSuffix("json") ? "json" : type.hasSuffix("xml") ? "xml" : "txt")")
    }

    /// `finding` says what else is wrong with it.
    static func page(with finding: String) -> DownloadError {
      DownloadError(
        .wrongContent,
        "the server sent a web page in place of the file\(finding); is there a log-in before this network? "
          + "If the page is what you want, name it so: -O NAME.html")
    }
  }
#endif
