#if HTTP
  import DurableJobs
  import Foundation

  /// One version of a file on its way: its bytes, in memory or in `NAME.part`, and what is known of them, in
  /// `NAME.part.json`. Those are held by one process at a time, through a lock on the record that dies with it.
  struct Part {
    /// A file of more bytes than this, or of nobody knows how many, is on the disk from its first byte on.
    static let smallBytes = 256_000

    struct Files {
      let record: Descriptor
      let bytes: Descriptor
    }

    let name: FileName
    let folder: Folder
    private let permissions: Int?
    private(set) var record: PartRecord
    private(set) var length: Int64 = 0
    /// What came, as long as there are no files.
    private(set) var early: [UInt8] = []
    private var opened: Files?
    /// The folder's entry of the bytes is on the disk.
    private(set) var isEntered = false
    /// Why what is here is not to be trusted any more.
    private(set) var doubt: (any Error)?

    /// Takes up the part that is there, if one is. Throws ``PartFile/Taken``, also for what is not of `url`, and has not the
    /// same checksum to come to.
    init(_ name: FileName, in folder: Folder, url: String, sha256: String?, permissions: Int?) throws {
      self.name = name
      self.folder = folder
      self.permissions = permissions
      record = PartRecord(url: url, sha256: sha256)
      guard folder.status(of: name.record) != nil || folder.status(of: name.part) != nil else { return }
      let file = try hold()
      let text = try file.read(recordPath)
      let old = PartRecord(text)
      if let old, old.url == url || sha256 != nil && old.sha256 == sha256 {
        let bytes = try openBytes()
        let status = try FileStatus(of: bytes, path)
        guard try old.isOf(bytes, status, path) else {
          throw isForeign(
            ofURL: nil, status.size < old.flushed ? "has \(status.size) bytes, though \(old.flushed) came" : nil)
        }
        try dropBrokenLine(text, file)
        record = old
        try take(file, bytes, status)
        try change {
          $0.move(to: url)
          $0.sha256 = sha256 ?? $0.sha256
        }
        try cut(to: record.trusted(status.size))
        return
      }
      // Without a record of ours nothing that is there is ours; but a record whose first line was being written is.
      guard PartRecord.isBegun(text), folder.status(of: name.part) == nil else {
        if text.isEmpty { folder.remove(name.record) }
        throw isForeign(ofURL: old?.url)
      }
      try makeFiles(file)
    }

    private func isForeign(ofURL url: String?, _ why: String? = nil) -> PartFile.Taken {
      let path = folder.status(of: name.part) == nil ? recordPath : path
      return .isForeign(
        DownloadError(
          .fileExists,
          "\(path) \(why ?? "is there and not of this download"); remove it, or start anew with --overwrite"),
        ofURL: url)
    }

    var path: String { folder.path(of: name.part) }
    var recordPath: String { folder.path(of: name.record) }
    var isInMemory: Bool { opened == nil }

    /// Its first bytes, at most `count`.
    func beginning(_ count: Int) throws -> [UInt8] {
      guard let opened else { return Array(early.prefix(count)) }
      return try opened.bytes.read(min(Int64(count), length), at: 0, path)
    }

    /// There are bytes, and a way to tell that others go on from them.
    func canGoOn(hasChecksum: Bool) -> Bool {
      length > 0 && record.canGoOn(hasChecksum: hasChecksum)
    }

    // MARK: Its files

    /// They are made now if there are none yet, with what is in memory. Throws ``PartFile/Taken`` if others were made since
    /// this was: another attempt looks whose they are.
    mutating func files() throws -> Files {
      if let doubt { throw doubt }
      if let opened { return opened }
      let file = try hold()
      let text = try file.read(recordPath)
      guard text.isEmpty, folder.status(of: name.part) == nil else {
        if text.isEmpty { folder.remove(name.record) }
        throw PartFile.Taken.isHeld(byURL: nil)
      }
      try makeFiles(file)
      return try files()
    }

    /// First whose it is, on the disk, then the bytes: what has no record is never ours.
    private mutating func makeFiles(_ file: Descriptor) throws {
      var isMade = false
      do {
        try file.cut(to: 0, recordPath)
        try file.append(record.lines, recordPath)
        try folder.flush(file, recordPath)
        try folder.flush()
        guard let bytes = try folder.open(name.part, O_RDWR | O_CREAT | O_EXCL, mode: mode) else {
          throw PartFile.Taken.isHeld(byURL: nil)
        }
        isMade = true
        setPermissions(of: bytes)
        _ = try early.withUnsafeBytes { try bytes.write($0, at: 0, path) }
        early = []
        try take(file, bytes, FileStatus(of: bytes, path))
      } catch {
        if isMade { folder.remove(name.part) }
        folder.remove(name.record)
        throw error
      }
    }

    private func openBytes() throws -> Descriptor {
      guard let file = try folder.open(name.part, O_RDWR | O_CREAT, mode: mode) else {
        throw DownloadError.disk("open", path)
      }
      setPermissions(of: file)
      return file
    }

    /// It has to be opened again, whatever the file is to be.
    private var mode: Int { permissions.map { $0 | 0o600 } ?? 0o666 }

    /// Also those that the umask takes.
    private func setPermissions(of bytes: Descriptor) {
      if permissions != nil { fchmod(bytes.number, mode_t(mode)) }
    }

    private mutating func take(_ file: Descriptor, _ bytes: Descriptor, _ status: FileStatus) throws {
      opened = Files(record: file, bytes: bytes)
      try change { $0.inode = status.inode }
    }

    private func hold() throws -> Descriptor {
      // Its URL may be signed.
      if let record = try folder.lock(name.record, mode: 0o600) { return record }
      throw PartFile.Taken.isHeld(
        byURL: try folder.open(name.record, O_RDONLY).flatMap { PartRecord(try $0.read(recordPath))?.url })
    }

    /// The next line must not go on where a crash cut one off.
    private func dropBrokenLine(_ text: Data, _ file: Descriptor) throws {
      let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text.distance(from: text.startIndex, to: $0) + 1 } ?? 0
      guard whole < text.count, whole > 0 else { return }
      try file.cut(to: Int64(whole), recordPath)
    }

    // MARK: Changes

    mutating func change(_ body: (inout PartRecord) -> Void) throws {
      var new = record
      body(&new)
      guard new != record else { return }
      try opened?.record.append(new.lines, recordPath)
      record = new
    }

    /// False if there is no more room for it in memory, or there are files: it is to be written then.
    mutating func keepInMemory(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard opened == nil, early.count + bytes.count <= Self.smallBytes else { return false }
      early += bytes
      length = Int64(early.count)
      return true
    }

    /// Bytes were written up to there.
    mutating func grew(to length: Int64) { self.length = length }

    /// The first `length` bytes are on the disk, and so is the record that says so.
    mutating func wasFlushed(_ length: Int64, _ tail: String) {
      (record.flushed, record.tail) = (length, tail)
      isEntered = true
    }

    /// A flush failed. What it could not write may be gone from memory too, though the next flush may find nothing wrong: what
    /// was flushed before is all that counts, and that is said again, for an attempt after a crash.
    mutating func distrust(_ error: any Error) {
      doubt = error
      try? opened?.record.append(record.lines, recordPath)
    }

    /// Forgets what is here: the file comes anew. That is on the disk before the first byte of the new one can be: else a
    /// power cut could leave new bytes under the old version's name. `highest` is the most that there ever was.
    mutating func startOver(highest: Int64) throws {
      try change {
        let shortage = $0.shortage
        $0 = PartRecord(url: $0.url, sha256: $0.sha256, inode: $0.inode)
        $0.shortage = shortage
        $0.highest = highest
      }
      if length > 0, let file = opened?.record { try folder.flush(file, recordPath) }
      try cut(to: 0)
    }

    /// First it is said, since a part that has less than that is taken for another's.
    mutating func cut(to length: Int64) throws {
      if record.flushed > length {
        let tail = try opened?.bytes.tail(before: length, path)
        try change { ($0.flushed, $0.tail) = (length, tail) }
        if let file = opened?.record { try folder.flush(file, recordPath) }
      }
      try opened?.bytes.cut(to: length, path)
      early.removeLast(max(early.count - Int(length), 0))
      self.length = length
    }

    /// Whether the file of the bytes has so many, and nobody has cut it.
    func holds(_ length: Int64, _ file: Descriptor) throws -> Bool { try FileStatus(of: file, path).size >= length }

    /// Nobody knows what is in a file that has been cut.
    mutating func discardIfShort() {
      if let file = opened?.bytes, (try? holds(doubt == nil ? length : record.flushed, file)) == false { discard() }
    }

    /// Removes what is here: the bytes are not what they should be, or are not needed.
    mutating func discard() {
      (early, length) = ([], 0)
      guard opened != nil else { return }
      folder.remove(name.part)
      folder.remove(name.record)
      // From here on the names may be somebody else's.
      opened = nil
    }
  }

  extension PartRecord {
    /// Whether that file has the bytes that this tells of; whose an empty one was is no matter.
    fileprivate func isOf(_ file: Descriptor, _ status: FileStatus, _ path: String) throws -> Bool {
      if status.size == 0 { return true }
      // What was flushed does not go by itself: something shorter was written over it.
      guard status.size >= flushed else { return false }
      // Also where the file is the same: somebody may have written another one into it.
      if let tail { return try file.tail(before: flushed, path) == tail }
      return inode.map { $0 == status.inode } ?? true
    }
  }
#endif
