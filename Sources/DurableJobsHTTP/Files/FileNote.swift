#if HTTP
  import DurableJobs
  import Foundation

  /// Whose a file is that comes: of which URL, and as whom that is asked.
  struct FileOwner: Equatable, Sendable {
    /// A digest: it says nothing of the URL to who reads it. Secrets in the query are left out, since a short one could be
    /// guessed.
    fileprivate let url: String
    /// What is asked for with headers or a password may be one user's alone.
    let isPersonal: Bool
    /// Of whom the file of passwords names, it is those users': ``FileVersion/users``.
    let users: String?
    /// Two secrets may stand for two files.
    fileprivate let hasSecret: Bool

    init(_ download: Download, as users: String?) {
      let url = download.url.withoutSecretFields
      self.url = FileNote.digest([url.absoluteString.withoutCredentials])
      isPersonal = !download.headers.isEmpty || HTTPURL(download.url)?.credentials != nil
      hasSecret = url != download.url
      self.users = users
    }

    /// Whether everybody gets the same file.
    var isAnybody: Bool { !isPersonal && users == nil }

    /// Which of its server's versions the file is, as far as that is told; nil where nothing tells it. A strong tag names one
    /// file, whoever asks for it (RFC 9110, section 8.8.1); a date does not. Of a weak tag only another one says something.
    fileprivate func version(_ version: FileVersion) -> String? {
      guard let mark = version.validator ?? version.entityTag, !hasSecret, version.hasStrongTag || !isPersonal else {
        return nil
      }
      return FileNote.digest([mark, version.place ?? ""])
    }
  }

  /// What is noted on a file that came: whose it is, which version, and how it was left. By that it is known again:
  /// after a crash, where the store has forgotten, and where another has its size and time.
  struct FileNote: Equatable {
    private let text: String

    fileprivate static func digest(_ facts: [String]) -> String {
      let digest = SHA256.hash(data: Data(facts.joined(separator: "\n").utf8)).prefix(8)
      return String(Data(digest).base64EncodedString().dropLast())
    }

    /// `tail` is a digest of its last bytes. Without a version where the file may have been cut.
    init(_ owner: FileOwner, _ version: FileVersion?, _ name: FileName, _ file: FileStatus, tail: String) {
      text = [
        Self.kind, owner.url, owner.isPersonal ? "one" : "all", version.flatMap(owner.version) ?? "-",
        Self.digest([name.description]), Self.digest(["\(file.size)", "\(file.modified)", tail]), owner.users ?? "-",
      ].joined(separator: " ")
    }

    fileprivate init?(_ text: String) {
      guard text.hasPrefix(Self.kind + " "), text.split(separator: " ").count == 7 else { return nil }
      self.text = text
    }

    private static let kind = "f"

    /// For what is longer, ext4 makes a block of its own, which the file's flush waits for, too: beside an inode of 256
    /// bytes there are so many. A note without ``FileOwner/users`` has 55.
    static let room = 56

    private var words: [Substring] { text.split(separator: " ") }
    var bytes: [UInt8] { Array(text.utf8) }

    /// What stands for that name on a file of bytes until it is noted whose that is.
    static func mark(_ name: String) -> [UInt8] { Array((name.utf8.count <= room ? name : digest([name])).utf8) }

    fileprivate func isOf(_ owner: FileOwner) -> Bool { words[1] == owner.url }
    fileprivate var users: String? { words[6] == "-" ? nil : String(words[6]) }
    fileprivate var isPersonal: Bool { words[2] == "one" }
    fileprivate var version: Substring? { words[3] == "-" ? nil : words[3] }
    fileprivate func isName(_ name: String) -> Bool { words[4] == Self.digest([name]) }
    fileprivate func isLeft(_ file: FileStatus, tail: String) -> Bool {
      words[5] == Self.digest(["\(file.size)", "\(file.modified)", tail])
    }
  }

  /// What a file's note says to who asks for that file.
  enum NotedFile {
    /// Its file system has no notes, or it can't be read.
    case isUnknown
    /// Nothing was noted on it.
    case isForeign
    /// Another download brought it, or it has changed since.
    case isOthers
    /// It is the asker's own, as it was left.
    case isOwn(FileNote)

    /// Whether it was brought under that name.
    func isNamed(_ name: String) -> Bool { if case .isOwn(let note) = self { note.isName(name) } else { false } }

    /// Whether it proves that a download of the same URL brought that file under that name. Of what may be one user's, or has a
    /// secret in its query, it says too little.
    func isNamed(_ name: String, for owner: FileOwner) -> Bool {
      guard case .isOwn(let note) = self, !owner.hasSecret, !owner.isPersonal, !note.isPersonal else { return false }
      return note.isName(name)
    }

    /// As whom it was asked for, if it is the asker's own.
    var users: String? { if case .isOwn(let note) = self { note.users } else { nil } }

    /// Whether it is still the version that its server has.
    func isBrought(by owner: FileOwner, _ file: FileStatus, _ version: FileVersion) -> Bool {
      guard case .isOwn(let note) = self, version.total ?? file.size == file.size, version.validator != nil,
        let now = owner.version(version), note.version == now[...]
      else { return false }
      return version.hasStrongTag || !note.isPersonal
    }

    /// Whether it may be taken by the size and time that its server tells, which other files may have: two of one server
    /// that dates all to 1970, two versions, two users' files. One without a version may be where the server tells none now
    /// either. Nil if nothing is noted that tells.
    func isTaken(by owner: FileOwner, _ version: FileVersion) -> Bool? {
      switch self {
      case .isOwn where owner.hasSecret: nil
      case .isOwn(let note):
        note.version == owner.version(version).map { $0[...] } && !note.isPersonal && !owner.isPersonal
      case .isOthers: false
      case .isUnknown, .isForeign: nil
      }
    }
  }

  extension Folder {
    /// A digest of its last bytes.
    func tail(of name: String, _ file: FileStatus) -> String? {
      (try? open(name, O_RDONLY, ofAnybody: true)).flatMap { try? $0.tail(before: file.size, path(of: name)) }
    }

    /// What is noted on that file. Before it is known of which users the owner is, `asker` tells.
    func noted(_ name: String, _ file: FileStatus, for owner: FileOwner, by asker: Asker? = nil) -> NotedFile {
      guard let open = try? open(name, O_RDONLY, ofAnybody: true) else { return .isUnknown }
      switch ExtendedAttribute.read(open.number, atMost: 400) {
      case nil: return .isUnknown
      case let bytes?:
        guard let note = FileNote(String(decoding: bytes, as: UTF8.self)) else { return .isForeign }
        let isOfUsers = asker.map { $0.mayAsk(as: note.users) } ?? (note.users == owner.users)
        guard note.isOf(owner), isOfUsers, let tail = try? open.tail(before: file.size, path(of: name)),
          note.isLeft(file, tail: tail)
        else { return .isOthers }
        return .isOwn(note)
      }
    }
  }

  extension Folder {
    /// Whether it is noted that a download made that file to give it another name, which it may have by now.
    func isNotedAsSecond(_ name: String) -> Bool {
      guard let file = try? open(name, O_RDONLY), let bytes = ExtendedAttribute.read(file.number, atMost: 400) else {
        return false
      }
      return bytes == FileNote.mark(name) || FileNote(String(decoding: bytes, as: UTF8.self)) != nil
    }
  }

  extension Descriptor {
    /// Returns whether that could be noted.
    @discardableResult func note(_ note: FileNote) -> Bool { ExtendedAttribute.write(number, note.bytes) }

    /// That it is the file of bytes of a part, until it is noted whose it is. Returns whether that could be noted.
    func note(part: String) -> Bool { ExtendedAttribute.write(number, FileNote.mark(part)) }

    /// Nil where the file system can't tell.
    func isNoted(part: String) -> Bool? {
      ExtendedAttribute.read(number, atMost: FileNote.room).map { $0 == FileNote.mark(part) }
    }
  }

  private enum ExtendedAttribute {
    /// Empty if there is none, or if it is longer; nil where the file system has none.
    static func read(_ file: Int32, atMost count: Int) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      errno = 0
      let read = read(file, &bytes)
      if read < 0, [ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) { return nil }
      return Array(bytes.prefix(max(read, 0)))
    }

    #if canImport(Darwin)
      private static let name = "durable.download"

      @discardableResult static func write(_ file: Int32, _ value: [UInt8]) -> Bool {
        fsetxattr(file, name, value, value.count, 0, 0) == 0
      }

      private static func read(_ file: Int32, _ value: inout [UInt8]) -> Int {
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

      private static func read(_ file: Int32, _ value: inout [UInt8]) -> Int {
        guard let symbol = dlsym(nil, "fgetxattr") else {
          errno = ENOSYS
          return -1
        }
        return unsafeBitCast(symbol, to: Read.self)(file, name, &value, value.count)
      }
    #endif
  }
#endif
