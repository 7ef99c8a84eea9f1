#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// What one types of a download, read: each either is something, or says what to do.
  enum DownloadWords {
    static func url(_ text: String) throws -> URL {
      guard !text.isEmpty else { throw ValidationError("a URL is empty") }
      if text.contains(where: \.isWhitespace) {
        throw ValidationError("\(text): a URL has no spaces in it; write %20 for each")
      }
      guard !text.hasControls else { throw ValidationError("\(text): a URL has no control characters in it") }
      guard let colon = text.range(of: "://") else {
        let beginning = text.prefix { $0 != "/" && $0 != ":" }
        let isSomething = ["mailto", "magnet", "data", "file", "javascript", "urn"].contains(beginning.lowercased())
        throw ValidationError(
          isSomething
            ? "\(text): only URLs with http:// or https:// can be fetched"
            : "\(text): a URL begins with its scheme; write https://\(text.drop { $0 == "/" })")
      }
      let scheme = text[..<colon.lowerBound].lowercased()
      guard scheme == "http" || scheme == "https" else {
        throw ValidationError("\(text): only http and https can be fetched\(scheme.isEmpty ? "" : ", not \(scheme)")")
      }
      let authority = text[colon.upperBound...].prefix { !"/?#".contains($0) }
      let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
      guard !host.isEmpty, !host.hasPrefix(":") else {
        throw ValidationError("\(text): the host is missing, as in https://example.org/file")
      }
      guard let url = URL(string: text), !(url.host() ?? "").isEmpty else {
        throw ValidationError("\(text): this is no URL; write characters that have a meaning in one as %XX")
      }
      if let port = url.port, !(1...65535).contains(port) {
        throw ValidationError("\(text): the port is \(port); it must be from 1 to 65535")
      }
      return url
    }

    static func header(_ text: String) throws -> Download.Header {
      guard let colon = text.firstIndex(of: ":") else {
        throw ValidationError("--header '\(text)': the colon is missing. Write it as in 'Authorization: Bearer abc'")
      }
      let name = String(text[..<colon])
      let value = text[text.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
      let token = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars)
      guard !name.isEmpty, name.unicodeScalars.allSatisfy({ token.contains($0) }) else {
        throw ValidationError("--header '\(text)': '\(name)' is no name of a header; it has letters, digits and '-'")
      }
      guard value.unicodeScalars.allSatisfy({ $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7f) }) else {
        throw ValidationError("--header '\(text)': a header is one line, without control characters")
      }
      return Download.Header(name, value)
    }

    static func sha256(_ text: String) throws -> String {
      guard text.allSatisfy(\.isHexDigit), text.utf8.count == text.count else {
        throw ValidationError(
          "--sha256 \(text): a SHA-256 has only the digits 0 to 9 and a to f, as sha256sum prints it")
      }
      guard text.count == 64 else {
        throw ValidationError("--sha256 \(text): a SHA-256 has 64 digits, this has \(text.count)")
      }
      return text.lowercased()
    }

    /// The name of a file, with no way in it.
    static func name(_ text: String) throws -> String {
      guard !text.contains("/") else {
        throw ValidationError("-O \(text): this is the file's name alone; its folder goes to -o")
      }
      guard !["", ".", ".."].contains(text), text.utf8.count <= 255, !text.hasControls else {
        throw ValidationError("-O '\(text)' can be no file's name")
      }
      return text
    }

    /// Bytes in a second: `500K`, `1.5M`.
    static func speed(_ text: String) throws -> Int64 {
      let units: [Character: Double] = ["K": 1e3, "M": 1e6, "G": 1e9]
      let unit = text.last.flatMap { units[Character($0.uppercased())] }
      let number = unit == nil ? text : String(text.dropLast())
      guard !number.isEmpty, number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
        let value = Double(number).map({ $0 * (unit ?? 1) }), value >= 1, value < 1e15
      else {
        throw ValidationError("--limit-rate \(text) is no number of bytes a second. Write it as in 800K, 1.5M, 1G")
      }
      return Int64(value)
    }

    /// The folder, without symbolic links in its path.
    static func folder(_ path: String) throws -> URL {
      var info = stat()
      guard stat(path, &info) == 0 else {
        if errno == ENOENT {
          throw ValidationError(
            "-o \(path): there is no such folder. Create it with: mkdir -p \(SystemText(path).shellQuoted)")
        }
        throw ValidationError("-o \(SystemError(path).description)")
      }
      guard info.st_mode & S_IFMT == S_IFDIR else {
        throw ValidationError("-o \(path): this is a file. -o takes a folder; the name of the file goes to -O")
      }
      guard access(path, W_OK | X_OK) == 0, let resolved = realpath(path, nil) else {
        throw ValidationError(
          "-o \(path): no file can be written there; choose another folder, or change its permissions")
      }
      defer { free(resolved) }
      return URL(fileURLWithPath: String(cString: resolved), isDirectory: true)
    }

    static func certificates(_ path: String) throws -> URL {
      guard let text = FileManager.default.contents(atPath: path) else {
        throw ValidationError("--cacert \(path): this file can't be read")
      }
      guard text.range(of: Data("-----BEGIN ".utf8)) != nil else {
        throw ValidationError(
          "--cacert \(path): there is no certificate in it. It must be in PEM: -----BEGIN CERTIFICATE-----")
      }
      return URL(fileURLWithPath: path)
    }
  }
#endif
