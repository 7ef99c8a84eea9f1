#if HTTP
  import Foundation

  /// The users and passwords of hosts in a `.netrc` file, as curl reads it: words separated by spaces or lines, in
  /// double quotes with `\` if a word contains spaces, and comments after a `#` at the beginning of a word.
  struct Netrc: Sendable {
    private struct Entry {
      /// Nil for all hosts.
      var machine: String?
      var login = ""
      var password = ""
    }

    private var entries: [Entry] = []

    /// The hosts that it names.
    var machines: [String] { entries.compactMap(\.machine) }

    /// The contents of that file; nil if it is the user's own, which is optional, and no longer exists. Throws like
    /// ``init(path:)``.
    static func read(_ path: String, home: String? = nil) throws -> Netrc? {
      let home = home ?? ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
      if path == URL(fileURLWithPath: home + "/.netrc").absolutePath, access(path, F_OK) != 0,
        errno == ENOENT
      {
        return nil
      }
      return try Netrc(path: path)
    }

    /// Throws ``DownloadError/Code/invalidDownload``, or ``DownloadError/Code/noRoom``.
    init(path: String) throws {
      func refuse(_ why: String) -> DownloadError {
        DownloadError(.invalidDownload, "no passwords can be read from \(path): \(why)")
      }
      let data = try AttemptFile.read(path, orThrow: refuse("it can't be read"))
      guard let netrc = Netrc(data) else { throw refuse("a quoted word has no end") }
      self = netrc
    }

    /// Nil if a quoted word has no end. A password is sent as it is in the file, in whatever character set: when read
    /// here, each byte is a character.
    init?(_ data: some Sequence<UInt8>) {
      let text = String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
      var words: [String] = []
      var isMacro = false
      for line in text.split(omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r", "\r\n"].contains($0) }) {
        // A macro extends to an empty line.
        if isMacro, !line.allSatisfy(\.isBlank) { continue }
        isMacro = false
        guard let found = Self.words(of: line) else { return nil }
        let kept = found.prefix { $0 != "macdef" }
        isMacro = kept.count < found.count
        words += kept
      }
      read(words)
    }

    private mutating func read(_ words: [String]) {
      var rest = words[...]
      while let word = rest.popFirst() {
        switch word {
        case "machine": if let name = rest.popFirst() { entries.append(Entry(machine: name.lowercased())) }
        case "default": entries.append(Entry())
        case "login": if let login = rest.popFirst(), !entries.isEmpty { entries[entries.count - 1].login = login }
        case "password":
          if let password = rest.popFirst(), !entries.isEmpty { entries[entries.count - 1].password = password }
        case "account": _ = rest.popFirst()
        default: break
        }
      }
    }

    /// Nil if a quote has no end.
    private static func words(of line: Substring) -> [String]? {
      var words: [String] = []
      var rest = line.drop { $0.isBlank }
      while let first = rest.first, first != "#" {
        if first == "\"" {
          guard let word = quoted(&rest) else { return nil }
          words.append(word)
        } else {
          words.append(String(rest.prefix { !$0.isBlank }))
          rest = rest.drop { !$0.isBlank }
        }
        rest = rest.drop { $0.isBlank }
      }
      return words
    }

    private static func quoted(_ rest: inout Substring) -> String? {
      rest.removeFirst()
      var word = ""
      while let next = rest.popFirst() {
        switch next {
        case "\"": return word
        case "\\":
          guard let escaped = rest.popFirst() else { return nil }
          word.append(["n": "\n", "r": "\r", "t": "\t"][escaped] ?? escaped)
        default: word.append(next)
        }
      }
      return nil
    }

    /// Those of the first entry for a host, or for all hosts unless it must be named. The host is as in a ``HTTPURL``.
    func credentials(for host: String, isNamed: Bool) -> HTTPURL.Credentials? {
      let name = host.trimmingCharacters(in: ["[", "]"])
      let entry = entries.first { $0.machine.map { [host, name].contains($0) } ?? !isNamed }
      guard let entry, !entry.login.isEmpty || !entry.password.isEmpty else { return nil }
      return HTTPURL.Credentials(user: entry.login.bytes, password: entry.password.bytes)
    }
  }

  extension Downloader {
    /// Throws ``DownloadError/Code/invalidDownload`` if no passwords can be read from that file.
    package static func check(netrc: URL) throws { _ = try Netrc(path: netrc.path) }
  }

  extension String {
    /// Of characters that represent bytes.
    fileprivate var bytes: [UInt8] { unicodeScalars.map { UInt8($0.value) } }
  }

  extension Character {
    /// Whether it separates words.
    fileprivate var isBlank: Bool { unicodeScalars.allSatisfy { $0.value <= 0x20 } }
  }
#endif
