#if HTTP
  import Crypto
  import DurableJobs
  import Foundation

  /// A file on its way: its bytes in `NAME.part`, and what is known of them in `NAME.part.json`. Held by one process at a
  /// time, through a lock on the record that dies with it.
  ///
  /// Its functions block; they are called on the threads of ``DiskThreads``.
  final class PartFile: Sendable {
    private struct State {
      var record: PartRecord
      var length: Int64 = 0
    }

    let folder: Folder
    let name: FileName
    private let state: Lock<State>
    /// Of what is here, if somebody wants it.
    private let sha256: Lock<SHA256?>
    private let part: Descriptor
    private let recordFile: Descriptor

    /// Somebody else holds it, or what is there is not this download's.
    enum Taken: Error {
      case isHeld(byURL: String?)
      /// `ofURL` if a download of that one left it.
      case isForeign(DownloadError, ofURL: String?)
    }

    /// Opens the part, or makes it. Throws ``Taken``; what is not this download's is replaced if it `overwrites`. With
    /// `hashes`, reads what is here to have its checksum.
    init(
      _ name: FileName, in folder: Folder, url: String, overwrites: Bool, hashes: Bool, permissions: Int?
    ) throws {
      self.folder = folder
      self.name = name
      recordFile = try Self.hold(name, folder)
      let text = try Self.read(recordFile, folder.path(of: name.record))
      try Self.dropBrokenLine(text, recordFile)
      let old = PartRecord(text).flatMap { $0.url == url ? $0 : nil }
      let record = old ?? PartRecord(url: url)
      // Without a record of ours nothing that is there is ours; but a record whose first line was being written is.
      let isForeign = old == nil && (text.contains(UInt8(ascii: "\n")) || folder.status(of: name.part) != nil)
      if isForeign, !overwrites {
        if !text.contains(UInt8(ascii: "\n")) { folder.remove(name.record) }
        throw Taken.isForeign(
          DownloadError(
            .fileExists,
            "\(folder.path(of: name.part)) is there and not of this download; remove it, or start anew with --overwrite"
          ), ofURL: PartRecord(text)?.url)
      }
      if isForeign { folder.remove(name.part) }
      // First whose it is, then the part: a part without a record is never ours.
      if old == nil {
        guard ftruncate(recordFile.number, 0) == 0 else {
          throw DownloadError.disk("cut", folder.path(of: name.record))
        }
        try Self.append(record.lines, to: recordFile, folder.path(of: name.record))
      }
      guard let part = try folder.open(name.part, O_RDWR | O_CREAT) else {
        throw DownloadError.disk("open", folder.path(of: name.part))
      }
      self.part = part
      if let permissions { fchmod(part.number, mode_t(permissions)) }
      state = Lock(State(record: record))
      sha256 = Lock(nil)
      try cut(to: record.trusted(try FileStatus(of: part, path).size))
      guard hashes else { return }
      var sum = SHA256()
      try Self.hash(part, length: length, path, into: &sum)
      sha256.withLock { $0 = sum }
    }

    /// The record, locked. It is looked at again once it is: who held it before may have removed it.
    private static func hold(_ name: FileName, _ folder: Folder) throws -> Descriptor {
      while true {
        guard let file = try folder.open(name.record, O_RDWR | O_CREAT) else { continue }
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
          throw Taken.isHeld(byURL: PartRecord(try read(file, folder.path(of: name.record)))?.url)
        }
        let mine = try FileStatus(of: file, name.record)
        if folder.status(of: name.record)?.inode == mine.inode { return file }
      }
    }

    var path: String { folder.path(of: name.part) }
    var record: PartRecord { state.withLock { $0.record } }
    /// How many bytes of the file are here and written.
    var length: Int64 { state.withLock { $0.length } }

    // MARK: Growing

    /// Forgets what is here: the file comes anew. That is on the disk before the first byte of the new one can be: else a
    /// power cut could leave new bytes under the old version's name.
    func startOver() throws {
      try change { record in
        let highest = record.highest
        record = PartRecord(url: record.url)
        record.highest = highest
      }
      if length > 0, !recordFile.flush() { throw DownloadError.disk("flush", folder.path(of: name.record)) }
      try cut(to: 0)
      sha256.withLock { if $0 != nil { $0 = SHA256() } }
    }

    /// What the server says of the file whose bytes come now.
    func learn(
      _ version: FileVersion, serverName: String?, modified: Date?, isDecoded: Bool
    ) throws {
      try change { record in
        record.isDecoded = isDecoded
        record.version = version
        record.name = serverName
        record.modified = modified
        record.boot = PartRecord.currentBoot
      }
    }

    /// Whether there is more of the file here than there ever was when this was asked before.
    func isFurther() throws -> Bool {
      let length = length
      guard length > record.highest else { return false }
      try change { $0.highest = length }
      return true
    }

    /// Only one task at a time appends.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
      var rest = bytes
      var end = length
      defer { state.withLock { $0.length = end } }
      while !rest.isEmpty {
        let count = pwrite(part.number, rest.baseAddress, rest.count, off_t(end))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw DownloadError.disk("write to", path) }
        end += Int64(count)
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
      sha256.withLock { $0?.update(bufferPointer: bytes) }
    }

    /// Of what is here; nil if it was not asked for.
    var checksum: String? { sha256.withLock { $0?.finalize().hexadecimal } }

    /// The first `length` bytes, written before, are on the disk when this returns, and the record says so. May be called
    /// while another task appends.
    func flush(_ length: Int64) throws {
      guard part.flush() else { throw DownloadError.disk("flush", path) }
      try Self.append(Data("\(length)\n".utf8), to: recordFile, folder.path(of: name.record))
      state.withLock { $0.record.flushed = length }
    }

    private func cut(to length: Int64) throws {
      guard ftruncate(part.number, off_t(length)) == 0 else { throw DownloadError.disk("cut", path) }
      state.withLock { $0.length = length }
    }

    private func change(_ body: (inout PartRecord) -> Void) throws {
      let old = record
      var new = old
      body(&new)
      guard new != old else { return }
      try Self.append(new.lines, to: recordFile, folder.path(of: name.record))
      state.withLock { $0.record = new }
    }

    static func hash(_ file: Descriptor, length: Int64, _ path: String, into sha256: inout SHA256) throws {
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      var offset: Int64 = 0
      while offset < length {
        try Task.checkCancellation()
        let count = buffer.withUnsafeMutableBytes {
          pread(file.number, $0.baseAddress, min($0.count, Int(length - offset)), off_t(offset))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw DownloadError.disk("read", path) }
        buffer.withUnsafeBytes { sha256.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        offset += Int64(count)
      }
    }

    // MARK: The end

    /// Gives the whole file, flushed, its name. Nil if another file has it and `replacing` is false.
    ///
    /// What is to be is recorded first: an attempt that comes after a crash finds the file in its place, and knows it.
    func finish(
      as final: FileName, by job: JobID, modified: Date?, sha256: String?, replacing: Bool
    ) throws -> DownloadedFile? {
      if let modified { try set(modified) }
      guard part.flush() else { throw DownloadError.disk("flush", path) }
      let status = try FileStatus(of: part, path)
      guard folder.status(of: name.part) == status else {
        throw DownloadError(.fileExists, "\(path) was replaced by something else; remove it")
      }
      try change { record in
        record.flushed = status.size
        record.whole = PartRecord.Whole(
          job: job, name: final.description, size: status.size, modified: status.modified, sha256: sha256)
      }
      guard try folder.rename(name.part, to: final.description, replacing: replacing) else { return nil }
      try folder.flush()
      return DownloadedFile(
        path: folder.path(of: final.description), size: status.size, sha256: sha256, modified: status.modified,
        wasThere: false)
    }

    private func set(_ modified: Date) throws {
      let seconds = modified.timeIntervalSince1970
      let time = timespec(tv_sec: Int(seconds.rounded(.down)), tv_nsec: 0)
      guard futimens(part.number, [time, time]) == 0 else { throw DownloadError.disk("set the time of", path) }
    }

    /// The file that an earlier attempt named before it could tell so, if it is what `download` asks for: an earlier job
    /// may have had no checksum, and one that replaces is to fetch.
    static func finished(
      _ name: FileName, in folder: Folder, _ download: Download, by job: JobID
    ) throws -> DownloadedFile? {
      guard folder.status(of: name.record) != nil, let file = try folder.open(name.record, O_RDONLY),
        let record = PartRecord(try read(file, folder.path(of: name.record))),
        record.url == download.url.withoutCredentials, let whole = record.whole,
        whole.job == job || !download.overwrites, download.isContent(whole.size, whole.sha256),
        let status = folder.status(of: whole.name),
        status.isRegular, status.size == whole.size, status.modified == whole.modified
      else { return nil }
      // Between getting its name and losing the old one it has two.
      if folder.status(of: name.part)?.inode == status.inode { folder.remove(name.part) }
      try folder.flush()
      return DownloadedFile(
        path: folder.path(of: whole.name), size: whole.size, sha256: whole.sha256, modified: whole.modified,
        wasThere: false)
    }

    /// Removes both: the bytes are not what they should be, or are not needed.
    func discard() {
      folder.remove(name.part)
      folder.remove(name.record)
    }

    // MARK: The record

    private static func read(_ file: Descriptor, _ path: String) throws -> Data {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      var data = Data()
      while data.count < 1 << 24 {
        let count = buffer.withUnsafeMutableBytes { pread(file.number, $0.baseAddress, $0.count, off_t(data.count)) }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw DownloadError.disk("read", path) }
        if count == 0 { break }
        data.append(contentsOf: buffer[..<count])
      }
      return data
    }

    /// The next line must not go on where a crash cut one off.
    private static func dropBrokenLine(_ text: Data, _ file: Descriptor) throws {
      let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text.distance(from: text.startIndex, to: $0) + 1 } ?? 0
      guard whole < text.count, whole > 0 else { return }
      guard ftruncate(file.number, off_t(whole)) == 0 else { throw DownloadError.disk("cut", "a record") }
    }

    private static func append(_ lines: Data, to file: Descriptor, _ path: String) throws {
      let end = lseek(file.number, 0, SEEK_END)
      guard lines.withUnsafeBytes({ pwrite(file.number, $0.baseAddress, $0.count, end) }) == lines.count else {
        throw DownloadError.disk("write to", path)
      }
    }
  }
#endif
