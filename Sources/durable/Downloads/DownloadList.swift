#if Shell
  import ArgumentParser
  import Foundation

  /// A list of URLs, one a line. Empty lines and those that begin with `#` say nothing.
  struct DownloadList {
    private(set) var urls: [URL] = []
    /// What is wrong with lines, as in "list.txt:7: …".
    private(set) var broken: [String] = []

    init(_ text: Data, name: String) {
      var bytes = text[...]
      if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
      for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
        guard let text = String(validating: line, as: UTF8.self) else {
          broken.append("\(name):\(index + 1): this line is no UTF-8")
          continue
        }
        let entry = text.trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "\r")))
        guard !entry.isEmpty, !entry.hasPrefix("#") else { continue }
        do {
          urls.append(try DownloadWords.url(entry))
        } catch let error as ValidationError {
          broken.append("\(name):\(index + 1): \(error.message)")
        } catch {
          broken.append("\(name):\(index + 1): \(error.briefly)")
        }
      }
    }

    /// Reads a file, or standard input for `-`.
    static func read(_ path: String) throws -> DownloadList {
      if path == "-" {
        return DownloadList(FileHandle.standardInput.readDataToEndOfFile(), name: "standard input")
      }
      // A pipe will do, too.
      guard let file = FileHandle(forReadingAtPath: path), let text = try? file.readToEnd() ?? Data() else {
        throw ValidationError("-i \(path): this file can't be read")
      }
      return DownloadList(text, name: path)
    }
  }
#endif
