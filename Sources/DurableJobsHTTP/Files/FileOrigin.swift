#if HTTP
  import Foundation

  /// What is noted on a file that came: by which download, and which version of its server's it is. By that a later download of
  /// the same knows it again, once its server says that it still has that version, where the store has forgotten.
  struct FileOrigin: Equatable {
    /// A digest: it says nothing of the URL to who reads it, and is of no file that has changed.
    let text: String

    /// Nil where the server doesn't tell its versions apart. A strong tag names one file, whoever asks for it (RFC 9110, section
    /// 8.8.1); a date does not, so what was asked for with headers or a password may be one user's alone. Of the one whom the
    /// file of passwords names it is that `user`'s.
    init?(_ download: Download, by user: String?, _ version: FileVersion, _ file: FileStatus) {
      guard let validator = version.validator, download.url.secretFields.isEmpty,
        version.hasStrongTag || download.headers.isEmpty && HTTPURL(download.url)?.credentials == nil
      else { return nil }
      let facts =
        [
          download.url.absoluteString.withoutCredentials, validator, version.place ?? "", "\(file.size)",
          "\(file.modified)",
        ]
        + (user.map { [$0] } ?? [])
      text = SHA256.hash(data: Data(facts.joined(separator: "\n").utf8)).hexadecimal
    }

    fileprivate init(text: String) { self.text = text }
  }

  extension Descriptor {
    /// What was noted on the file.
    var origin: FileOrigin? {
      var text = [UInt8](repeating: 0, count: 64)
      return ExtendedAttribute.read(number, &text) == text.count
        ? FileOrigin(text: String(decoding: text, as: UTF8.self)) : nil
    }

    /// Where the file system can't, the file goes without.
    func note(_ origin: FileOrigin) { ExtendedAttribute.write(number, Array(origin.text.utf8)) }

    /// That it is the file of bytes of a part, until it is noted where it came from. Returns whether that could be noted.
    func note(part: String) -> Bool { ExtendedAttribute.write(number, Array(part.utf8)) }

    /// Nil where the file system can't tell.
    func isNoted(part: String) -> Bool? {
      var text = [UInt8](repeating: 0, count: part.utf8.count)
      errno = 0
      if ExtendedAttribute.read(number, &text) == text.count { return text == Array(part.utf8) }
      return [ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) ? nil : false
    }
  }

  extension Folder {
    /// Whether that file is what `download` brought here as that user, and still the version that its server has.
    func isBrought(
      _ name: FileName, _ file: FileStatus, by download: Download, as user: String?, _ version: FileVersion
    ) -> Bool {
      guard version.total ?? file.size == file.size, let origin = FileOrigin(download, by: user, version, file) else {
        return false
      }
      return self.origin(of: name) == origin
    }

    /// What was noted on that file.
    func origin(of name: FileName) -> FileOrigin? { (try? open(name.description, O_RDONLY))?.origin }
  }

  private enum ExtendedAttribute {
    #if canImport(Darwin)
      private static let name = "durable.download"

      @discardableResult static func write(_ file: Int32, _ value: [UInt8]) -> Bool {
        fsetxattr(file, name, value, value.count, 0, 0) == 0
      }

      static func read(_ file: Int32, _ value: inout [UInt8]) -> Int {
        fgetxattr(file, name, &value, value.count, 0, 0)
      }
    #else
      private static let name = "user.durable.download"
      // Looked up by name: the C library has them, and does not tell Swift.
      private typealias Write =
        @convention(c) (
          Int32, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32
        ) -> Int32
      private typealias Read = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) -> Int

      @discardableResult static func write(_ file: Int32, _ value: [UInt8]) -> Bool {
        guard let symbol = dlsym(nil, "fsetxattr") else { return false }
        return unsafeBitCast(symbol, to: Write.self)(file, name, value, value.count, 0) == 0
      }

      static func read(_ file: Int32, _ value: inout [UInt8]) -> Int {
        guard let symbol = dlsym(nil, "fgetxattr") else {
          errno = ENOSYS
          return -1
        }
        return unsafeBitCast(symbol, to: Read.self)(file, name, &value, value.count)
      }
    #endif
  }
#endif
