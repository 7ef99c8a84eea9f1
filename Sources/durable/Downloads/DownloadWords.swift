#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// What one types of a download, read: each either is something, or says what to do.
  enum DownloadWords {
    /// Whatever is wrong is told without what may be a user and a password.
    static func url(_ text: String) throws -> URL {
      guard !text.isEmpty else { throw ValidationError("a URL is empty") }
      var shown: String { text.withoutSecrets }
      if text.contains(where: \.isWhitespace) {
        throw ValidationError("\(shown): a URL has no spaces in it; write %20 for each")
      }
      guard !text.hasControls else { throw ValidationError("\(shown): a URL has no control characters in it") }
      guard let colon = text.range(of: "://") else {
        let beginning = text.prefix { $0 != "/" && $0 != ":" }
        let isSomething = ["mailto", "magnet", "data", "file", "javascript", "urn"].contains(beginning.lowercased())
        throw ValidationError(
          isSomething
            ? "\(shown): only URLs with http:// or https:// can be fetched"
            : "\(shown): a URL begins with its scheme; write https://\(shown.drop { $0 == "/" })")
      }
      let scheme = text[..<colon.lowerBound].lowercased()
      guard scheme == "http" || scheme == "https" else {
        throw ValidationError("\(shown): only http and https can be fetched\(scheme.isEmpty ? "" : ", not \(scheme)")")
      }
      let authority = text[colon.upperBound...].prefix { !"/?#".contains($0) }
      let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
      guard !host.isEmpty, !host.hasPrefix(":") else {
        throw ValidationError("\(shown): the host is missing, as in https://example.org/file")
      }
      guard let url = URL(typed: text), !(url.host() ?? "").isEmpty else {
        throw ValidationError("\(shown): this is no URL; write characters that have a meaning in one as %XX")
      }
      if let port = url.port, !(1...65535).contains(port) {
        throw ValidationError("\(shown): the port is \(port); it must be from 1 to 65535")
      }
      try check("this is no URL that can be fetched") { $0.url = url }
      return url
    }

    /// `name: value`. Nothing of it is told but its name, since the value may be a secret.
    static func header(_ text: String, _ place: String) throws -> Download.Header {
      guard let header = HTTPHeader(line: text) else {
        throw ValidationError("\(place): the colon is missing. Write a header as in 'Accept: text/plain'")
      }
      try check(place) { $0.headers = [header] }
      return header
    }

    /// What `--header` names: a header, or with `@` a file of them, one a line; `@-` is standard input.
    static func headers(_ argument: String) throws -> [Download.Header] {
      guard argument.hasPrefix("@") else { return [try header(argument, "--header")] }
      let path = String(argument.dropFirst())
      return try TextLines(of: path, "--header \(argument)").map { line in
        guard let text = line.text else { throw ValidationError("\(line.place): this line is no UTF-8") }
        return try header(text, line.place)
      }
    }

    /// Checks a part of a download by the rules for downloads. `what` is the option that it came from.
    static func check(_ what: String, _ set: (inout Download) -> Void) throws {
      var download = sample
      set(&download)
      do {
        try download.validate()
      } catch let error as DownloadError {
        throw ValidationError("\(what): \(error.message)")
      }
    }

    /// One with which nothing is wrong.
    private static let sample = Download(from: URL(string: "https://localhost")!, to: URL(fileURLWithPath: "/"))

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

    /// What becomes of what has come of files, by their names.
    static func keeping(_ files: [(name: String, prospect: Download.Prospect)]) -> String {
      let lost = files.filter { $0.prospect > .goesOn }.sorted { $0.name < $1.name }
      guard let first = lost.first else { return "what has come is kept" }
      let isSure = lost.allSatisfy { $0.prospect == .beginsAnew }
      let others = lost.count < files.count ? ", and what has come of others is kept" : ""
      guard lost.count > 1 else {
        let why = isSure ? "its server can't go on with it" : "its server doesn't say that it can go on with it"
        return "\(first.name.withVisibleControls) \(isSure ? "begins" : "may begin") anew: \(why)\(others)"
      }
      let why = isSure ? "their servers can't go on with them" : "their servers don't say that they can go on with them"
      return
        "\(first.name.withVisibleControls) and \(lost.count - 1) more \(isSure ? "" : "may ")begin anew: \(why)\(others)"
    }

    /// The folder, without symbolic links in its path. It is made if there is none, but not what it is in.
    static func folder(_ path: String) throws -> URL {
      var info = stat()
      if stat(path, &info) != 0 {
        guard errno == ENOENT else { throw ValidationError("-o \(SystemError(path).description)") }
        // The folder is the user's own, as the files in it are, and not the store's. Nothing else is made meanwhile.
        let umaskOfStore = umask(Program.umaskAtStart)
        let isMade = mkdir(path, 0o777) == 0
        umask(umaskOfStore)
        guard isMade else {
          let why = "-o \(path): there is no such folder, and it can't be made: \(SystemError.words())"
          // Of a path with one letter, NSString knows no folder, and ends the process.
          let parent = NSString(string: path.hasPrefix("/") ? path : "./" + path).deletingLastPathComponent
          throw ValidationError(
            access(parent, F_OK) == 0
              ? "\(why); choose another folder"
              : "\(why). Create it with: mkdir -p \(SystemText(path).shellQuoted)")
        }
        guard stat(path, &info) == 0 else { throw ValidationError("-o \(SystemError(path).description)") }
        Descriptor.flush(folder: path + "/..")
        if !(path as NSString).pathExtension.isEmpty {
          Talk.line("-o \(path): this is a folder now; the name of a file goes to -O".withVisibleControls)
        }
      }
      guard info.st_mode & S_IFMT == S_IFDIR else {
        throw ValidationError("-o \(path): this is a file. -o takes a folder; the name of the file goes to -O")
      }
      guard access(path, R_OK | W_OK | X_OK) == 0, let resolved = realpath(path, nil) else {
        throw ValidationError(
          "-o \(path): no file can be written there; choose another folder, or change its permissions")
      }
      defer { free(resolved) }
      guard let name = String(validatingCString: resolved) else {
        throw ValidationError("-o \(path): the folder's path is no UTF-8; choose another folder")
      }
      return URL(fileURLWithPath: name, isDirectory: true)
    }

    /// A file of users and passwords: that which is named, else the user's own if there is one.
    static func netrc(_ path: String? = nil) throws -> URL? {
      if let path {
        guard access(path, R_OK) == 0 else { throw ValidationError("--netrc-file \(path): this file can't be read") }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
          throw ValidationError("--netrc-file \(path): this is no plain file, and it is read for each attempt")
        }
        return URL(fileURLWithPath: path)
      }
      let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
      let file = URL(fileURLWithPath: home + "/.netrc")
      guard access(file.path, F_OK) == 0 else { return nil }
      do {
        try Downloader.check(netrc: file)
        return file
      } catch {
        // Nobody has asked for it.
        Talk.error("\(error); it is left aside")
        return nil
      }
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
