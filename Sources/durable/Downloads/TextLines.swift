#if Shell
  import ArgumentParser
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

    /// Reads a file, or standard input for `-`. A pipe will do, too. `what` is the option that names it.
    init(of path: String, _ what: String) throws {
      if path == "-" {
        try self.init(FileHandle.standardInput.readToEnd() ?? Data(), name: "standard input", what)
      } else {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() ?? Data() else {
          throw ValidationError("\(what): this file can't be read")
        }
        try self.init(data, name: path, what)
      }
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
