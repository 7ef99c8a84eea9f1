#if HTTP
  import DurableJobs
  import Foundation

  /// An incomplete version of a file: its bytes, in memory or in `NAME.part`, and what is known about them, in
  /// `NAME.part.json`. One process at a time holds both, by a lock on the record that ends with the process.
  struct Part {
    /// A larger file, or one of unknown size, is on disk from its first byte on.
    static let smallBytes = 256_000

    struct Files {
      let record: Descriptor
      let bytes: Descriptor
    }

    let name: FileName
    let folder: Folder
    private var permissions: FilePermissions?
    private(set) var record: PartRecord
    private(set) var length: Int64 = 0
    /// The bytes received while there are no files.
    private(set) var early: [UInt8] = []
    private var opened: Files?
    /// Whether the folder's entry for the bytes is on disk.
    private(set) var isEntered = false
    /// Why what is here is no longer trusted.
    private(set) var doubt: (any Error)?

    /// Takes over an existing part. Throws ``PartFile/Taken`` also for a part of another URL unless it must have the
    /// same checksum.
    init(
      _ name: FileName, in folder: Folder, url: String, sha256: String?, asker: Asker = Asker(),
      permissions: FilePermissions?
    ) throws {
      self.name = name
      self.folder = folder
      self.permissions = permissions
      record = PartRecord(url: url, sha256: sha256, asker: asker.own, mark: UUID().uuidString)
      guard folder.status(of: name.record) != nil || folder.status(of: name.part) != nil else { return }
      let file = try hold()
      let text = try file.read(recordPath)
      let found = PartRecord(text)
      let isOwn = found.map { $0.url == url || sha256 != nil && $0.sha256 == sha256 } ?? false
      if isOwn, let named = found?.whole?.name { dropName(ofFileNamed: named) }
      let isThere = folder.status(of: name.part) != nil
      // Without a record of ours, what is there is not ours; but a record whose first line was being written is.
      guard isOwn || !isThere && PartRecord.isBegun(text) else {
        if text.isEmpty { folder.remove(name.record) }
        throw isForeign(ofURL: found?.url)
      }
      guard isThere, let old = found, let bytes = try folder.open(name.part, O_RDWR) else {
        // Of bytes that are gone nothing is known that matters to those that come.
        (record.shortage, record.highest) = (found?.shortage, found?.highest ?? 0)
        try file.cut(to: 0, recordPath)
        folder.remove(name.record)
        return
      }
      let status = try FileStatus(of: bytes, path)
      guard try old.isOf(bytes, status, path) else {
        throw isForeign(
          ofURL: nil, status.size < old.flushed ? "has \(status.size) bytes, though \(old.flushed) came" : nil)
      }
      setPermissions(of: bytes)
      try dropBrokenLine(text, file)
      record = old
      let trusted = record.trusted(status.size)
      // Once it is empty, nothing but the mark tells that it is ours. Who made it may have been killed before it had that, and
      // as a whole one it has another note.
      if trusted == 0 { try noteMark(on: bytes, file) }
      try take(file, bytes, status)
      try change {
        $0.move(to: url, for: asker)
        $0.sha256 = sha256 ?? $0.sha256
        if trusted == 0 { $0.whole = nil }
      }
      try cut(to: trusted)
    }

    /// Who gave the file its name may have been killed before it took this one away.
    private func dropName(ofFileNamed named: String) {
      guard let file = folder.status(of: named), file.inode == folder.status(of: name.part)?.inode else { return }
      folder.remove(name.part)
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

    /// Its last bytes.
    func end(_ count: Int) throws -> [UInt8] {
      guard let opened else { return Array(early.suffix(count)) }
      return try opened.bytes.read(Int64(count), at: length - Int64(count), path)
    }

    /// Of how many bytes it can be verified that others continue them.
    func resumable(hasChecksum: Bool) -> Int64 { record.canGoOn(hasChecksum: hasChecksum) ? length : 0 }

    // MARK: Its files

    /// The files, created if necessary with what is in memory. Throws ``PartFile/Taken`` if others were created since
    /// this part: another attempt finds out whose they are.
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

    /// Writes the owner to disk first, then the bytes: what has no record is never ours.
    private mutating func makeFiles(_ file: Descriptor) throws {
      var isMade = false
      do {
        try file.cut(to: 0, recordPath)
        try file.append(record.lines, recordPath)
        try folder.flush(file, recordPath)
        try folder.flush()
        guard let bytes = try folder.open(name.part, O_RDWR | O_CREAT | O_EXCL, mode: mode(permissions?.atFirst)) else {
          throw PartFile.Taken.isHeld(byURL: nil)
        }
        isMade = true
        try noteMark(on: bytes, file)
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

    /// From here on, or from the first byte on that is on the disk. Nil leaves them as they are.
    mutating func set(_ permissions: FilePermissions?) {
      guard let permissions else { return }
      self.permissions = permissions
      if let opened { setPermissions(of: opened.bytes) }
    }

    /// It has to be opened again, whatever the file is to be.
    private func mode(_ permissions: Int?) -> Int { permissions.map { $0 | 0o600 } ?? 0o666 }

    /// Also those that the umask takes.
    private func setPermissions(of bytes: Descriptor) {
      guard let permissions, let status = try? FileStatus(of: bytes, path) else { return }
      fchmod(bytes.number, mode_t(mode(permissions.mode(of: status))))
    }

    private mutating func take(_ file: Descriptor, _ bytes: Descriptor, _ status: FileStatus) throws {
      opened = Files(record: file, bytes: bytes)
      try change { $0.inode = status.inode }
    }

    /// Before its first byte: one that has some, and lacks the mark that is recorded, is another's.
    private mutating func noteMark(on bytes: Descriptor, _ recordFile: Descriptor) throws {
      guard let mark = record.mark, !bytes.note(part: mark) else { return }
      record.mark = nil
      try recordFile.append(record.lines, recordPath)
    }

    private func hold() throws -> Descriptor {
      // Its URL may be signed.
      if let record = try folder.lock(name.record, mode: 0o600) { return record }
      throw PartFile.Taken.isHeld(
        byURL: try folder.open(name.record, O_RDONLY).flatMap { PartRecord(try $0.read(recordPath))?.url })
    }

    /// Drops a line that a crash cut off, so that the next one does not continue it.
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

    /// Returns false if memory has no room for it or there are files already: then it must be written.
    mutating func keepInMemory(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard opened == nil, early.count + bytes.count <= Self.smallBytes else { return false }
      early += bytes
      length = Int64(early.count)
      return true
    }

    /// Bytes up to `length` were written.
    mutating func grew(to length: Int64) { self.length = length }

    /// The first `length` bytes are on disk, as is the record that says so.
    mutating func wasFlushed(_ length: Int64, _ tail: String) {
      (record.flushed, record.tail) = (length, tail)
      isEntered = true
    }

    /// A flush failed. What it could not write may be lost even if the next flush finds no error, so only what was
    /// flushed before counts. That is recorded again, for an attempt after a crash.
    mutating func distrust(_ error: any Error) {
      doubt = error
      try? opened?.record.append(record.lines, recordPath)
    }

    /// Forgets what is here, to download the file again. That is on disk before the first new byte can be: otherwise a
    /// power cut could leave new bytes under the old version's name. `highest` is the most bytes that there ever were.
    mutating func startOver(highest: Int64) throws {
      // It may be noted where a whole file came from, and an empty one is known by its mark alone.
      if let opened { try noteMark(on: opened.bytes, opened.record) }
      try change {
        let shortage = $0.shortage
        $0 = PartRecord(url: $0.url, sha256: $0.sha256, asker: $0.asker, inode: $0.inode, mark: $0.mark)
        $0.shortage = shortage
        $0.highest = highest
      }
      if length > 0, let file = opened?.record { try folder.flush(file, recordPath) }
      try cut(to: 0)
    }

    /// Recorded before it is done, since a part with less than its record is taken for another's.
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

    /// Whether the file of bytes has this length and was not cut by others.
    func holds(_ length: Int64, _ file: Descriptor) throws -> Bool { try file.size(path) >= length }

    /// The contents of a file that was cut are unknown.
    mutating func discardIfShort() {
      if let file = opened?.bytes, (try? holds(doubt == nil ? length : record.flushed, file)) == false { discard() }
    }

    /// Removes what is here: the bytes are wrong or not needed. Not what somebody has put in its place.
    mutating func discard() {
      (early, length) = ([], 0)
      guard let opened else { return }
      folder.remove(name.part, ifIt: opened.bytes)
      folder.remove(name.record, ifIt: opened.record)
      // From here on the names may be used by others.
      self.opened = nil
    }
  }

  extension PartRecord {
    /// Whether that file has the bytes of this record.
    func isOf(_ file: Descriptor, _ status: FileStatus, _ path: String) throws -> Bool {
      // One that was just made has neither mark nor number yet.
      if status.size == 0 {
        // Of one that is whole it is noted whose it is, in place of the mark.
        if whole?.size == 0, inode == status.inode { return true }
        return inode.map { inode in mark.flatMap { file.isNoted(part: $0) } ?? (inode == status.inode) } ?? true
      }
      // Flushed bytes do not disappear by themselves: something shorter was written over them.
      guard status.size >= flushed else { return false }
      // Even for the same file: another one may have been written into it.
      if let tail { return try file.tail(before: flushed, path) == tail }
      // Of one that is whole it may be noted already where it came from.
      if let whole, let end = whole.tail {
        return try status.size == whole.size && file.tail(before: whole.size, path) == end
      }
      if whole == nil, let mark, let isIt = file.isNoted(part: mark) { return isIt }
      return inode.map { $0 == status.inode } ?? true
    }
  }
#endif
