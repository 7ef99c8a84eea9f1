#if HTTP
  import DurableJobs
  import Foundation

  /// A safe name for a file in its folder, whatever the server suggested.
  ///
  /// A single component without separators and control characters; not hidden, not like a command's option, not that of
  /// a part or a record, and short enough for derived names. A safe name is returned unchanged.
  struct FileName: Hashable, Sendable, CustomStringConvertible {
    static let partEnding = ".part"
    static let recordEnding = ".part.json"
    private static let markEnding = ".new.part"
    /// Files that SQLite reads beside a database of that name: it rolls a journal back into the database.
    private static let databaseEndings = ["-journal", "-wal", "-shm"]
    private static let longest = 255 - recordEnding.utf8.count

    let description: String

    // Compares bytes, as most file systems do: a `String` treats canonically equivalent names as equal.
    static func == (one: FileName, other: FileName) -> Bool {
      one.description.utf8.elementsEqual(other.description.utf8)
    }
    func hash(into hasher: inout Hasher) { for byte in description.utf8 { hasher.combine(byte) } }

    private init(_ description: String) { self.description = description }

    /// The nearest safe name. Works on scalars: a separator with a combining mark is not a separator to a `Character`,
    /// but is one to the file system.
    init(harmless wish: String) {
      // What precedes a separator is a path, which is not for the server to choose.
      let kept = wish.unicodeScalars.filter(Self.isHarmless)
      let last = kept.split { $0 == "/" || $0 == "\\" }.last.map { String(String.UnicodeScalarView($0)) } ?? ""
      // Checks the result rather than the input, since cutting may produce a bad ending.
      var scalars = Array(Self.cut(Self.trimmed(last)).unicodeScalars)
      while let end = scalars.last, Self.isDropped(end) { scalars.removeLast() }
      if let dot = Self.begin(of: Self.ourEndings, in: scalars) { scalars[dot] = "-" }
      description = scalars.isEmpty ? "download" : String(String.UnicodeScalarView(scalars))
    }

    /// The same for a name that only a server chose, which must not add to a database that it can't write.
    init(ofServer wish: String) {
      self.init(harmless: wish)
      var scalars = Array(description.unicodeScalars)
      guard let dash = Self.begin(of: Self.databaseEndings, in: scalars) else { return }
      scalars[dash] = "_"
      self.init(String(String.UnicodeScalarView(scalars)))
    }

    /// The name in a URL: its last component.
    init(of url: URL) {
      let path = url.path(percentEncoded: true)
      let last = path.hasSuffix("/") ? "" : path.split(separator: "/").last.map(String.init) ?? ""
      self.init(harmless: last.removingPercentEncoding ?? last)
    }

    /// A name that a user gave; nil unless it is a single printable component, short enough, and not that of a part or
    /// a record.
    init?(exactly name: String) {
      guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= Self.longest,
        name.unicodeScalars.allSatisfy({ Self.isHarmless($0) && $0 != "/" }),
        Self.begin(of: Self.ourEndings, in: Array(name.unicodeScalars)) == nil
      else { return nil }
      description = name
    }

    // MARK: Names beside it

    var part: String { description + Self.partEnding }
    var record: String { description + Self.recordEnding }

    /// The same, but only for one URL: used if another download has the part of the plain name.
    func apart(for url: String) -> FileName { FileName(beside("~" + Self.hash(url))) }

    /// The same for a second version of the file while there is a part of the first.
    var new: FileName { FileName(beside("~new")) }

    /// A second name of the file until the success of `job` is stored. No other job looks for it.
    func mark(for url: String, _ job: KnownJob) -> String {
      beside("~" + Self.hash("\(url) \(job.id) \(job.nonce ?? "")")) + Self.markEnding
    }

    /// Whether this may be such a second name for a file of this name.
    func isMark(_ other: String) -> Bool {
      let hash = other.dropLast(Self.markEnding.count).suffix(8)
      return hash.count == 8 && hash.allSatisfy(\.isHexDigit) && other == beside("~" + hash) + Self.markEnding
    }

    /// Whether it may be one for a file of whatever name.
    static func isAnyMark(_ name: String) -> Bool { name.hasSuffix(markEnding) }

    private func beside(_ mark: String) -> String { Self.cut(description, roomFor: mark.utf8.count) + mark }

    private static func hash(_ text: String) -> String { SHA256.hash(data: Data(text.utf8)).prefix(4).hexadecimal }

    // MARK: What a name may be

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.properties.generalCategory {
      case .control, .surrogate, .lineSeparator, .paragraphSeparator: false
      // Bidirectional marks make "gpj.exe" look like something else.
      case .format: scalar == "\u{200d}" || scalar == "\u{200c}"
      default: true
      }
    }

    /// Without a start that hides a file or makes it an option, and without an end that some file systems drop.
    private static func trimmed(_ name: String) -> String {
      let head = name.unicodeScalars.drop { $0 == "-" || isDropped($0) || $0.properties.isDefaultIgnorableCodePoint }
      return String(String.UnicodeScalarView(head.reversed().drop(while: isDropped).reversed()))
    }

    private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
      scalar == "." || scalar.properties.isWhitespace
    }

    /// The endings of parts and records: otherwise a server could fake the start of another server's file.
    private static let ourEndings = [partEnding, recordEnding]

    /// Where one of these endings begins for lenient file systems, which ignore case and invisible or final characters.
    private static func begin(of endings: [String], in name: [Unicode.Scalar]) -> Int? {
      for ending in endings {
        var rest = Array(ending.unicodeScalars)
        var index = (name.lastIndex { !isDropped($0) && !$0.properties.isDefaultIgnorableCodePoint } ?? -1) + 1
        while index > 0, let wanted = rest.last {
          index -= 1
          if name[index].properties.isDefaultIgnorableCodePoint { continue }
          guard name[index].properties.uppercaseMapping == wanted.properties.uppercaseMapping else { break }
          rest.removeLast()
        }
        if rest.isEmpty { return index }
      }
      return nil
    }

    /// At most ``longest`` bytes, keeping start and ending; cut between characters, except in one that is too long.
    private static func cut(_ name: String, roomFor mark: Int = 0) -> String {
      let longest = Self.longest - mark
      guard name.utf8.count > longest else { return name }
      let dot = name.unicodeScalars.lastIndex(of: ".")
      let ending = dot.map { String(name.unicodeScalars[$0...]) }.flatMap { $0.utf8.count <= 16 ? $0 : nil } ?? ""
      let stem = String(name.unicodeScalars.dropLast(ending.unicodeScalars.count))
      var room = longest - ending.utf8.count
      func fits(_ size: Int) -> Bool {
        room -= size
        return room >= 0
      }
      let whole = String(stem.prefix { fits($0.utf8.count) })
      guard whole.isEmpty else { return whole + ending }
      room = longest - ending.utf8.count
      return String(String.UnicodeScalarView(stem.unicodeScalars.prefix { fits($0.utf8.count) })) + ending
    }
  }
#endif
