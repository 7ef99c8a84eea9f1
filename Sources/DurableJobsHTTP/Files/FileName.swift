#if HTTP
  import DurableJobs
  import Foundation

  /// A name that a file may have in the folder that it goes into, whatever a server wished.
  ///
  /// One component, no separators, no control characters, not hidden, and short enough for the names beside it.
  struct FileName: Hashable, Sendable, CustomStringConvertible {
    static let partEnding = ".part"
    static let recordEnding = ".part.json"
    private static let markEnding = ".new.part"
    // One more for the mark that `beside` sets.
    private static let longest = 254 - recordEnding.utf8.count

    let description: String

    /// The nearest harmless name. Scalar by scalar: to a `Character`, a separator with a mark on it is no separator, and to
    /// the file system it is.
    init(harmless wish: String) {
      // What comes before a separator is a way, and not of our choosing.
      let kept = wish.unicodeScalars.filter(Self.isHarmless)
      var scalars = kept.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(Array.init) ?? []
      while let first = scalars.first, first == "." || first == " " { scalars.removeFirst() }
      while scalars.last == " " { scalars.removeLast() }
      var name = String.UnicodeScalarView()
      name.append(contentsOf: scalars)
      description = Self.cut(name.isEmpty ? "download" : Self.beside(String(name)))
    }

    /// The same in the name of one URL only: where another download has the plain name's part.
    func apart(for url: String) -> FileName {
      let mark = SHA256.hash(data: Data(url.utf8)).prefix(4).hexadecimal
      return FileName(harmless: Self.cut(description, roomFor: mark.count + 1) + "~" + mark)
    }

    /// A second name that a file of this name has until the success of `job` is stored. No other job looks for it.
    func mark(for url: String, _ job: JobID) -> String {
      let mark = SHA256.hash(data: Data("\(url) \(job)".utf8)).prefix(4).hexadecimal
      return Self.cut(description, roomFor: mark.count + 1) + "~" + mark + Self.markEnding
    }

    /// The name that a URL gives the file: its last component.
    init(of url: URL) {
      let path = url.path(percentEncoded: true)
      let last = path.hasSuffix("/") ? "" : path.split(separator: "/").last.map(String.init) ?? ""
      self.init(harmless: last.removingPercentEncoding ?? last)
    }

    /// The name as somebody gave it; nil unless it is harmless as it is.
    init?(exactly name: String) {
      guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= Self.longest,
        name.unicodeScalars.allSatisfy({ Self.isHarmless($0) && $0 != "/" })
      else { return nil }
      description = name
    }

    var part: String { description + Self.partEnding }
    var record: String { description + Self.recordEnding }

    /// A name under which it is no part, and no record of one: a server could begin another server's file with those.
    private static func beside(_ name: String) -> String {
      [partEnding, recordEnding].contains { name.lowercased().hasSuffix($0) } ? name + "-" : name
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.properties.generalCategory {
      case .control, .surrogate, .lineSeparator, .paragraphSeparator: false
      // Marks that turn the reading direction make "gpj.exe" look like something else.
      case .format: scalar == "\u{200d}" || scalar == "\u{200c}"
      default: true
      }
    }

    /// At most ``longest`` bytes, the ending kept.
    private static func cut(_ name: String, roomFor mark: Int = 0) -> String {
      let longest = Self.longest - mark
      guard name.utf8.count > longest else { return name }
      let dot = name.lastIndex(of: ".")
      let ending = dot.map { String(name[$0...]) }.flatMap { $0.utf8.count <= 16 ? $0 : nil } ?? ""
      var stem = String(name.dropLast(ending.count))
      while stem.utf8.count + ending.utf8.count > longest { stem.removeLast() }
      return stem + ending
    }
  }
#endif
