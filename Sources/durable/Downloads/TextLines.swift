#if Shell
  import ArgumentParser
  import DurableJobs
  import Foundation

  /// The lines of a text file that say something, each with its place as in "list.txt:7". A mark at the beginning of the
  /// file and the carriage returns of Windows are no part of them, nor are spaces around them.
  struct TextLines: Sequence {
    struct Line {
      var place: String
      /// Nil if it is no UTF-8.
      var text: String?
      /// It has a space or a tab before it.
      var isIndented = false
    }

    private let data: Data
    private let name: String

    /// What has a longer line is no such file, and may have no end. No system takes a longer word of a command.
    private static let longestLine = 131_072

    /// Reads a file, or standard input for `-`. A pipe will do, too. `what` is the option that names it. What has more than
    /// `most` bytes may have no end.
    init(of path: String, _ what: String, most: Int = 1 << 30) throws {
      guard path == "-" || access(path, R_OK) == 0 else {
        throw ValidationError("\(what): this file can't be read: \(SystemError.words())")
      }
      let (file, name) =
        path == "-" ? (.standardInput, "standard input") : (FileHandle(forReadingAtPath: path), path)
      var data = Data()
      var lineBegin = 0
      while true {
        guard let file, let piece = try? file.read(upToCount: 65_536) ?? Data() else {
          throw ValidationError("\(what): this file can't be read")
        }
        let newline = UInt8(ascii: "\n")
        let lineEnd = data.count + (piece.firstIndex(of: newline).map { $0 - piece.startIndex } ?? piece.count)
        guard lineEnd - lineBegin <= Self.longestLine else {
          let number = data.count { $0 == newline } + 1
          throw ValidationError("\(name):\(number): this line has more than \(Self.longestLine) bytes")
        }
        if piece.isEmpty { break }
        guard data.count + piece.count <= most else {
          throw ValidationError("\(name): this has more than \(most) bytes")
        }
        data += piece
        if let last = piece.lastIndex(of: newline) { lineBegin = data.count - (piece.endIndex - last) + 1 }
      }
      try self.init(data, name: name, what)
    }

    init(_ data: Data, name: String, _ what: String) throws {
      guard ![[0xff, 0xfe], [0xfe, 0xff]].contains(where: { data.starts(with: $0) }) else {
        throw ValidationError("\(what): this is UTF-16; it must be UTF-8, as from: iconv -f UTF-16 -t UTF-8")
      }
      self.data = data.starts(with: [0xef, 0xbb, 0xbf]) ? data.dropFirst(3) : data
      self.name = name
    }

    func makeIterator() -> some IteratorProtocol<Line> {
      let name = name
      return data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).lazy.enumerated()
        .compactMap { number, bytes -> Line? in
          let text = String(validating: bytes, as: UTF8.self)?
            .trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "\r")))
          let isIndented = bytes.first == UInt8(ascii: " ") || bytes.first == UInt8(ascii: "\t")
          return text == "" ? nil : Line(place: "\(name):\(number + 1)", text: text, isIndented: isIndented)
        }.makeIterator()
    }
  }
#endif
