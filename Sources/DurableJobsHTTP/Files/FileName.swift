#if HTTP
  import DurableJobs
  import Foundation

  /// A name that a file may have in the folder that it goes into, whatever a server wished.
  ///
  /// One component, no separators, no control characters, not hidden and no option of a command, none that a part or a
  /// record has, and short enough for the names beside it. A harmless name is its own nearest harmless name.
  struct FileName: Hashable, Sendable, CustomStringConvertible {
    static let partEnding = ".part"
    static let recordEnding = ".part.json"
    private static let markEnding = ".new.part"
    /// What SQLite reads beside a database of that name: a journal is rolled back into it.
    private static let databaseEndings = ["-journal", "-wal", "-shm"]
    private static let longest = 255 - recordEnding.utf8.count

    let description: String

    // By its bytes, as most file systems do: to a `String`, two names with the same letters in other scalars are one.
    static func == (one: FileName, other: FileName) -> Bool {
      one.description.utf8.elementsEqual(other.description.utf8)
    }
    func hash(into hasher: inout Hasher) { for byte in description.utf8 { hasher.combine(byte) } }

    private init(_ description: String) { self.description = description }

    /// The nearest harmless name. Scalar by scalar: to a `Character`, a separator with a mark on it is no separator, and to
    /// the file system it is.
    init(harmless wish: String) {
      // What comes before a separator is a way, and not of our choosing.
      let kept = wish.unicodeScalars.filter(Self.isHarmless)
      let last = kept.split { $0 == "/" || $0 == "\\" }.last.map { String(String.UnicodeScalarView($0)) } ?? ""
      // What it becomes is judged, and not what it was: cutting may bare an end.
      var scalars = Array(Self.cut(Self.trimmed(last)).unicodeScalars)
      while let end = scalars.last, Self.isDropped(end) { scalars.removeLast() }
      if let dot = Self.begin(of: Self.ourEndings, in: scalars) { scalars[dot] = "-" }
      description = scalars.isEmpty ? "download" : String(String.UnicodeScalarView(scalars))
    }

    /// The same for what a server alone wishes, which must not add to a database that it can't write.
    init(ofServer wish: String) {
      self.init(harmless: wish)
      var scalars = Array(description.unicodeScalars)
      guard let dash = Self.begin(of: Self.databaseEndings, in: scalars) else { return }
      scalars[dash] = "_"
      self.init(String(String.UnicodeScalarView(scalars)))
    }

    /// The name that a URL gives the file: its last component.
    init(of url: URL) {
      let path = url.path(percentEncoded: true)
      let last = path.hasSuffix("/") ? "" : path.split(separator: "/").last.map(String.init) ?? ""
      self.init(harmless: last.removingPercentEncoding ?? last)
    }

    /// The name as somebody gave it; nil unless it is one component, short enough, that can be shown, and no part's or
    /// record's.
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

    /// The same in the name of one URL only: where another download has the plain name's part.
    func apart(for url: String) -> FileName { FileName(beside("~" + Self.hash(url))) }

    /// The same for a second version of the file, while a part of the first one is here.
    var new: FileName { FileName(beside("~new")) }

    /// A second name that a file of this name has until the success of `job` is stored. No other job looks for it.
    func mark(for url: String, _ job: KnownJob) -> String {
      beside("~" + Self.hash("\(url) \(job.id) \(job.nonce ?? "")")) + Self.markEnding
    }

    /// Whether some job's file of this name may have that second name.
    func isMark(_ other: String) -> Bool {
      let hash = other.dropLast(Self.markEnding.count).suffix(8)
      return hash.count == 8 && hash.allSatisfy(\.isHexDigit) && other == beside("~" + hash) + Self.markEnding
    }

    private func beside(_ mark: String) -> String { Self.cut(description, roomFor: mark.utf8.count) + mark }

    private static func hash(_ text: String) -> String { SHA256.hash(data: Data(text.utf8)).prefix(4).hexadecimal }

    // MARK: What a name may be

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.properties.generalCategory {
      case .control, .surrogate, .lineSeparator, .paragraphSeparator: false
      // Marks that turn the reading direction make "gpj.exe" look like something else.
      case .format: scalar == "\u{200d}" || scalar == "\u{200c}"
      default: true
      }
    }

    /// Without what hides a file or makes it an option, at its begin, and what some file systems drop, at its end.
    private static func trimmed(_ name: String) -> String {
      let head = name.unicodeScalars.drop { $0 == "-" || isDropped($0) || $0.properties.isDefaultIgnorableCodePoint }
      return String(String.UnicodeScalarView(head.reversed().drop(while: isDropped).reversed()))
    }

    private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
      scalar == "." || scalar.properties.isWhitespace
    }

    /// Of parts and records: a server could begin another server's file with one.
    private static let ourEndings = [partEnding, recordEnding]

    /// Where a name ends so. Read as lenient file systems do, for which small and capital letters are the same, and what can't be seen, or ends a name, is not there.
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

    /// At most ``longest`` bytes, the begin and the ending kept; between characters, but for one that is too long itself.
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
