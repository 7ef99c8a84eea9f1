#if Shell
  import ArgumentParser
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// A list of URLs, one a line. Empty lines and those that begin with `#` say nothing. Indented lines below a URL are options
  /// of it, as aria2 has them: `out=NAME`, `dir=FOLDER`, `checksum=sha-256=HEX`, `header=NAME: VALUE`, `size=BYTES`.
  struct DownloadList {
    struct Entry {
      var url: URL
      /// As in "list.txt:7".
      var place: String
      var name: String?
      var folder: String?
      var sha256: String?
      var size: Int64?
      var headers: [Download.Header] = []
    }

    private(set) var urls: [Entry] = []
    /// What is wrong with lines, as in "list.txt:7: …".
    private(set) var broken: [String] = []

    init(_ lines: TextLines) {
      // Options of a URL that can't be read say nothing.
      var isLastBroken = false
      for line in lines where line.text?.hasPrefix("#") != true {
        do {
          guard let text = line.text else { throw ValidationError("this line is no UTF-8") }
          let option = Self.option(in: text)
          if line.isIndented, let option {
            guard !isLastBroken else { continue }
            guard !urls.isEmpty else {
              throw ValidationError("an option stands below its URL; there is none above this one")
            }
            try urls[urls.count - 1].set(option.name, option.value)
          } else if let name = option?.name, Self.options.contains(name) {
            // What follows may be a secret.
            throw ValidationError("\(name)= is an option; it stands below its URL, with spaces before it")
          } else {
            isLastBroken = true
            urls.append(Entry(url: try DownloadWords.url(text), place: line.place))
            isLastBroken = false
          }
        } catch {
          broken.append("\(line.place): \((error as? ValidationError)?.message ?? error.briefly)")
        }
      }
    }
  }

  extension DownloadList {
    private static let options: Set<String> = ["out", "dir", "checksum", "header", "size"]

    /// As in "out=NAME". By hand: a regular expression would be a third of the time that a long list takes.
    private static func option(in text: String) -> (name: String, value: String)? {
      guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign > text.startIndex else { return nil }
      let name = text[..<sign]
      let small = UInt8(ascii: "a")...UInt8(ascii: "z")
      let others = Set("-0123456789".utf8)
      guard small.contains(name.utf8.first ?? 0), name.utf8.allSatisfy({ small.contains($0) || others.contains($0) })
      else { return nil }
      return (String(name), String(text.utf8[text.utf8.index(after: sign)...]) ?? "")
    }
  }

  extension DownloadList.Entry {
    fileprivate mutating func set(_ option: String, _ value: String) throws {
      switch option {
      case "out":
        guard !value.contains("/") else {
          throw ValidationError("out=\(value): this is the file's name alone; its folder goes to dir=")
        }
        try DownloadWords.check("out") { $0.name = value }
        name = value
      case "dir":
        guard !value.isEmpty else { throw ValidationError("dir= names no folder") }
        folder = value
      case "checksum":
        let parts = value.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, ["sha-256", "sha256"].contains(parts[0].lowercased()) else {
          throw ValidationError("checksum=\(value): only sha-256=HEX is known")
        }
        try DownloadWords.check("checksum") { $0.sha256 = String(parts[1]) }
        sha256 = String(parts[1])
      case "size":
        guard let bytes = Int64(value) else { throw ValidationError("size=\(value) is no number of bytes") }
        try DownloadWords.check("size") { $0.size = bytes }
        size = bytes
      case "header": headers.append(try DownloadWords.header(value, "header"))
      default: throw ValidationError("the option \(option) is not known; out, dir, checksum, size and header are")
      }
    }
  }

  /// Checksums by names of files, as `sha256sum` writes them: `HEX  NAME`, or `HEX *NAME`.
  struct ChecksumList {
    private struct Sum {
      var hex: String
      var place: String
    }

    /// Checksums between which nothing tells: the first, and one that differs from it.
    private struct Sums {
      let first: Sum
      var other: Sum?

      static func add(_ sum: Sum, to sums: inout Sums?) {
        guard let first = sums?.first else { return sums = Sums(first: sum) }
        if sums?.other == nil, sum.hex != first.hex { sums?.other = sum }
      }
    }

    /// By the parts of their paths.
    private var ofPaths: [[String]: Sums] = [:]
    /// By the last parts of their paths, and by those as files of them are named here.
    private var ofNames: [String: Sums] = [:]
    private var ofHarmlessNames: [String: Sums] = [:]

    init(_ lines: TextLines) throws {
      for line in lines where line.text?.hasPrefix("#") != true {
        guard let (hex, name) = line.text.flatMap(Self.parts) else {
          throw ValidationError("\(line.place): this is no line of sha256sum, as in: HEX  NAME")
        }
        let path = name.split(separator: "/").map(String.init).filter { $0 != "." }
        let sum = Sum(hex: hex.lowercased(), place: line.place)
        guard let name = path.last else { continue }
        Sums.add(sum, to: &ofPaths[path])
        Sums.add(sum, to: &ofNames[name])
        Sums.add(sum, to: &ofHarmlessNames[Download.harmlessName(name)])
      }
    }

    /// Before a checksum whose name has escapes stands a backslash.
    private static func parts(of line: String) -> (hex: Substring, name: String)? {
      let isEscaped = line.hasPrefix("\\")
      let rest = isEscaped ? line.dropFirst() : line[...]
      let (hex, name) = (rest.prefix { $0.isHexDigit && $0.isASCII }, rest.dropFirst(66))
      guard hex.count == 64, !name.isEmpty, ["  ", " *"].contains(rest.dropFirst(64).prefix(2)) else { return nil }
      return (hex, isEscaped ? unescaped(name) : String(name))
    }

    private static func unescaped(_ name: Substring) -> String {
      var (plain, rest) = ("", name)
      while let next = rest.popFirst() {
        guard next == "\\", let escaped = rest.popFirst() else {
          plain.append(next)
          continue
        }
        plain.append(["n": "\n", "r": "\r"][escaped] ?? escaped)
      }
      return plain
    }

    /// The one of a file of that name. Of several that differ, it is that with the longest path in which the URL ends, or that
    /// of the very name. Throws if there is none, or no telling which.
    func sum(of name: String, at url: URL) throws -> String {
      let harmless = Download.harmlessName(name)
      guard let all = ofHarmlessNames[harmless] else {
        throw ValidationError("--sha256sums: there is no checksum for \(name)")
      }
      let path = url.pathComponents
      let isNamedByURL = path.last.map { Download.harmlessName($0) == harmless } ?? false
      let fitting = isNamedByURL ? path.indices.lazy.compactMap { ofPaths[Array(path[$0...])] }.first : nil
      let wanted = fitting ?? ofNames[name] ?? all
      if let other = wanted.other {
        throw ValidationError(
          "--sha256sums: \(wanted.first.place) and \(other.place) have different checksums for \(name), and none has the path "
            + "of its URL alone")
      }
      return wanted.first.hex
    }
  }
#endif
