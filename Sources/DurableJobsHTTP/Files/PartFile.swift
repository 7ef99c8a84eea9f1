#if HTTP
  import DurableJobs
  import Foundation

  /// A file on its way: its bytes in `NAME.part`, and what is known of them in `NAME.part.json`. Held by one process at a
  /// time, through a lock on the record that dies with it.
  ///
  /// A small file is kept in memory until it is whole, or the first flush, and makes no such files mostly.
  ///
  /// Its functions block; they are called on the threads of ``DiskThreads``.
  final class PartFile: Sendable {
    /// A file of more bytes than this, or of nobody knows how many, is on the disk from its first byte on.
    static let smallBytes = 256_000

    private struct Files {
      let record: Descriptor
      let part: Descriptor
    }

    private struct State {
      var record: PartRecord
      var length: Int64 = 0
      /// Nil as long as what came is in `early`.
      var files: Files?
      var early: [UInt8] = []
    }

    let folder: Folder
    let name: FileName
    /// The second name that the file has until its job's success is stored, if it is named from memory.
    private let mark: String
    private let permissions: Int?
    private let state: Lock<State>
    /// Of what is here, if somebody wants it.
    private let sha256: Lock<SHA256?>

    /// Somebody else holds it, or what is there is not this download's.
    enum Taken: Error {
      case isHeld(byURL: String?)
      /// `ofURL` if a download of that one left it.
      case isForeign(DownloadError, ofURL: String?)
    }

    /// Takes up the part that is there, if one is. Throws ``Taken``; what is not this download's is replaced if it
    /// `overwrites`. With `hashes`, reads what is here to have its checksum.
    init(
      _ name: FileName, mark: String, in folder: Folder, url: String, overwrites: Bool, hashes: Bool,
      permissions: Int?
    ) throws {
      self.folder = folder
      self.name = name
      self.mark = mark
      self.permissions = permissions
      state = Lock(State(record: PartRecord(url: url)))
      sha256 = Lock(hashes ? SHA256() : nil)
      guard folder.status(of: name.record) != nil || folder.status(of: name.part) != nil else { return }
      let recordFile = try hold()
      let text = try recordFile.read(folder.path(of: name.record))
      let old = PartRecord(text).flatMap { $0.url == url ? $0 : nil }
      if old != nil { try dropBrokenLine(text, recordFile) }
      // Without a record of ours nothing that is there is ours; but a record whose first line was being written is.
      let isForeign = old == nil && (text.contains(UInt8(ascii: "\n")) || folder.status(of: name.part) != nil)
      if isForeign, !overwrites {
        if text.isEmpty { folder.remove(name.record) }
        throw Taken.isForeign(
          DownloadError(
            .fileExists,
            "\(folder.path(of: name.part)) is there and not of this download; remove it, or start anew with --overwrite"
          ), ofURL: PartRecord(text)?.url)
      }
      if isForeign { folder.remove(name.part) }
      try state.withLock { state in
        if let old {
          state.record = old
          state.files = Files(record: recordFile, part: try openPart())
        } else {
          try makeFiles(recordFile, &state)
        }
      }
      try cut(to: record.trusted(try FileStatus(of: files().part, path).size))
      guard hashes else { return }
      let sum = try files().part.sha256(length: length, path)
      sha256.withLock { $0 = sum }
    }

    /// The files, which are made now if there are none yet, with what is in memory. Throws ``Taken`` if others were made
    /// since this was: another attempt looks whose they are.
    private func files() throws -> Files { try state.withLock { try files(&$0) } }

    private func files(_ state: inout State) throws -> Files {
      if let files = state.files { return files }
      let recordFile = try hold()
      let text = try recordFile.read(folder.path(of: name.record))
      guard text.isEmpty, folder.status(of: name.part) == nil else {
        if text.isEmpty { folder.remove(name.record) }
        throw Taken.isHeld(byURL: nil)
      }
      return try makeFiles(recordFile, &state)
    }

    /// First whose it is, then the part: a part without a record is never ours.
    @discardableResult
    private func makeFiles(_ recordFile: Descriptor, _ state: inout State) throws -> Files {
      do {
        try recordFile.cut(to: 0, folder.path(of: name.record))
        try recordFile.append(state.record.lines, folder.path(of: name.record))
        let files = Files(record: recordFile, part: try openPart())
        _ = try state.early.withUnsafeBytes { try files.part.write($0, at: 0, path) }
        state.early = []
        state.files = files
        return files
      } catch {
        folder.remove(name.part)
        folder.remove(name.record)
        throw error
      }
    }

    private func openPart() throws -> Descriptor {
      guard let part = try folder.open(name.part, O_RDWR | O_CREAT) else {
        throw DownloadError.disk("open", folder.path(of: name.part))
      }
      if let permissions { fchmod(part.number, mode_t(permissions)) }
      return part
    }

    private func hold() throws -> Descriptor {
      if let record = try folder.lock(name.record) { return record }
      let path = folder.path(of: name.record)
      throw Taken.isHeld(byURL: try folder.open(name.record, O_RDONLY).flatMap { PartRecord(try $0.read(path))?.url })
    }

    var path: String { folder.path(of: name.part) }
    var record: PartRecord { state.withLock { $0.record } }
    /// How many bytes of the file are here.
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
      if length > 0 { try state.withLock { $0.files?.record }?.flush(folder.path(of: name.record)) }
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
      if isDecoded || version.total ?? .max > Self.smallBytes { _ = try files() }
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
      let part = try state.withLock { state -> Descriptor? in
        if state.files == nil, state.early.count + bytes.count <= Self.smallBytes {
          state.early += bytes
          state.length = Int64(state.early.count)
          return nil
        }
        return try files(&state).part
      }
      if let part {
        let end = try part.write(bytes, at: length, path)
        state.withLock { $0.length = end }
      }
      sha256.withLock { $0?.update(bufferPointer: bytes) }
    }

    /// Of what is here; nil if it was not asked for.
    var checksum: String? { sha256.withLock { $0?.finalize().hexadecimal } }

    /// The first `length` bytes, written before, are on the disk when this returns, and the record says so. May be called
    /// while another task appends.
    func flush(_ length: Int64) throws {
      let files = try files()
      try files.part.flush(path)
      try files.record.append(Data("\(length)\n".utf8), folder.path(of: name.record))
      state.withLock { $0.record.flushed = length }
    }

    private func cut(to length: Int64) throws {
      try state.withLock { state in
        try state.files?.part.cut(to: length, path)
        state.early = []
        state.length = length
      }
    }

    private func change(_ body: (inout PartRecord) -> Void) throws {
      try state.withLock { state in
        var new = state.record
        body(&new)
        guard new != state.record else { return }
        try state.files?.record.append(new.lines, folder.path(of: name.record))
        state.record = new
      }
    }

    // MARK: The end

    /// Gives the whole file, flushed, its name. Nil if another file has it and `replacing` is false.
    ///
    /// What is to be is recorded first: an attempt that comes after a crash finds the file in its place, and knows it.
    func finish(
      as final: FileName, by job: JobID, modified: Date?, sha256: String?, replacing: Bool
    ) throws -> DownloadedFile? {
      if !replacing {
        switch try nameFromMemory(as: final, modified: modified, sha256: sha256) {
        case .done(let file): return file
        case .isTaken: return nil
        case .isImpossible: break
        }
      }
      let files = try files()
      let status = try flush(files.part, name.part, modified: modified)
      try change { record in
        record.flushed = status.size
        record.whole = PartRecord.Whole(
          job: job, name: final.description, size: status.size, modified: status.modified, sha256: sha256)
      }
      try files.record.flush(folder.path(of: name.record))
      guard try folder.rename(name.part, to: final.description, replacing: replacing) else { return nil }
      try folder.flush()
      return folder.fetched(final.description, status, sha256: sha256)
    }

    private enum Naming {
      case done(DownloadedFile)
      case isTaken
      /// It is on the disk already, hard links are not to be had, or the second name is in use.
      case isImpossible
    }

    /// The shorter way of a file that is not on the disk: its bytes go to a file that is named after the job, which keeps
    /// that name beside the other until the success is stored.
    private func nameFromMemory(as final: FileName, modified: Date?, sha256: String?) throws -> Naming {
      guard let bytes = state.withLock({ $0.files == nil ? $0.early : nil }) else { return .isImpossible }
      guard let file = try? folder.lock(mark) else { return .isImpossible }
      var isNamed = false
      defer { if !isNamed { folder.remove(mark) } }
      if let permissions { fchmod(file.number, mode_t(permissions)) }
      try file.cut(to: 0, folder.path(of: mark))
      _ = try bytes.withUnsafeBytes { try file.write($0, at: 0, folder.path(of: mark)) }
      let status = try flush(file, mark, modified: modified)
      switch try folder.link(mark, to: final.description) {
      case .isImpossible: return .isImpossible
      case .isTaken: return .isTaken
      case .done: isNamed = true
      }
      try folder.flush()
      return .done(folder.fetched(final.description, status, sha256: sha256))
    }

    /// Nothing of it is on the disk.
    var isInMemory: Bool { state.withLock { $0.files == nil } }

    /// The record that is left when a file has its name, if it had one.
    var leftRecord: String? { isInMemory ? nil : name.record }

    private func flush(_ file: Descriptor, _ name: String, modified: Date?) throws -> FileStatus {
      let path = folder.path(of: name)
      if let modified { try file.set(modified: modified, path) }
      try file.flush(path)
      let status = try FileStatus(of: file, path)
      guard folder.status(of: name) == status else {
        throw DownloadError(.fileExists, "\(path) was replaced by something else; remove it")
      }
      return status
    }

    /// A file that an earlier attempt named before it could tell so, by its record, if it is what `download` asks for: an
    /// earlier job may have had no checksum, and one that replaces is to fetch.
    static func recorded(
      _ name: FileName, in folder: Folder, _ download: Download, by job: JobID
    ) throws -> DownloadedFile? {
      guard folder.status(of: name.record) != nil, let file = try folder.open(name.record, O_RDONLY),
        let record = PartRecord(try file.read(folder.path(of: name.record))),
        record.url == download.url.withoutCredentials, let whole = record.whole,
        whole.job == job || !download.overwrites, download.isContent(whole.size, whole.sha256),
        let status = folder.status(of: whole.name),
        status.isRegular, status.size == whole.size, status.modified == whole.modified
      else { return nil }
      // Between getting its name and losing the old one it has two.
      if folder.status(of: name.part)?.inode == status.inode { folder.remove(name.part) }
      try folder.flush()
      return folder.fetched(whole.name, status, sha256: whole.sha256)
    }

    /// The same of the same job, by the second name that the file has.
    static func marked(
      _ mark: String, as final: FileName, in folder: Folder, _ download: Download
    ) throws -> DownloadedFile? {
      guard let kept = folder.status(of: mark), let status = folder.status(of: final.description),
        status.isRegular, status.inode == kept.inode, download.size == nil || download.size == status.size
      else { return nil }
      var file = folder.fetched(final.description, status, sha256: nil)
      if let wanted = download.sha256?.lowercased() {
        file.sha256 = try folder.checksum(of: final.description)
        guard file.sha256 == wanted else { return nil }
      }
      try folder.flush()
      return file
    }

    /// Removes what is here: the bytes are not what they should be, or are not needed.
    func discard() {
      try? cut(to: 0)
      guard !isInMemory else { return }
      folder.remove(name.part)
      folder.remove(name.record)
    }

    /// The next line must not go on where a crash cut one off.
    private func dropBrokenLine(_ text: Data, _ file: Descriptor) throws {
      let whole = text.lastIndex(of: UInt8(ascii: "\n")).map { text.distance(from: text.startIndex, to: $0) + 1 } ?? 0
      guard whole < text.count, whole > 0 else { return }
      try file.cut(to: Int64(whole), folder.path(of: name.record))
    }
  }

  extension Folder {
    /// What is told of a file that came and has its name.
    fileprivate func fetched(_ name: String, _ status: FileStatus, sha256: String?) -> DownloadedFile {
      DownloadedFile(
        path: path(of: name), size: status.size, sha256: sha256, modified: status.modified, wasThere: false)
    }
  }
#endif
