#if HTTP
  import DurableJobs
  import Foundation

  /// A file on its way, as a ``Part``. Where the server has another version than that, the new one grows in a part of its
  /// own, `NAME~new.part`, and the old one is kept until the new one is whole: whichever the server has next time is gone
  /// on with.
  ///
  /// A small file is kept in memory until it is whole, or the first flush, and makes no such files mostly.
  ///
  /// Its functions block; they are called on the threads of ``DiskThreads``.
  final class PartFile: Sendable {
    struct State {
      /// The version that grows.
      var part: Part
      /// The other one, which may be empty; nil if its name is another download's.
      var aside: Part?
      /// What the file was when its checksum was taken.
      var summed: FileStatus?
      /// The server sent the file from its first byte on, though some of it was here.
      var wasBegunAnew = false

      mutating func turn() {
        guard let other = aside else { return }
        (part, aside) = (other, part)
      }
    }

    let folder: Folder
    /// The second name that the file has until its job's success is stored, if it is named from memory.
    let mark: String
    let permissions: Int?
    let state: Lock<State>
    private let hasChecksum: Bool

    /// Somebody else holds it, or what is there is not this download's.
    enum Taken: Error {
      case isHeld(byURL: String?)
      /// `ofURL` if a download of that one left it.
      case isForeign(DownloadError, ofURL: String?)
    }

    /// Takes up what is there: of two versions the longer. Throws ``Taken``.
    init(_ name: FileName, mark: String, in folder: Folder, url: String, sha256: String?, permissions: Int?) throws {
      self.folder = folder
      self.mark = mark
      self.permissions = permissions
      hasChecksum = sha256 != nil
      var state = State(part: try Part(name, in: folder, url: url, sha256: sha256, permissions: permissions))
      do {
        state.aside = try Part(name.new, in: folder, url: url, sha256: sha256, permissions: permissions)
      } catch Taken.isHeld(let other?) where other != url {
      } catch Taken.isForeign {
      } catch let error as DownloadError where error.code == .fileExists {
      }
      if let aside = state.aside, aside.length > state.part.length { state.turn() }
      self.state = Lock(state)
    }

    var path: String { state.withLock { $0.part.path } }
    var record: PartRecord { state.withLock { $0.part.record } }
    /// How many bytes of the file are here.
    var length: Int64 { state.withLock { $0.part.length } }
    /// Nothing of it is on the disk.
    var isInMemory: Bool { state.withLock { $0.part.isInMemory } }

    /// What is here is a page, by its first bytes.
    var beginsAsPage: Bool {
      get throws {
        let part = state.withLock { $0.part }
        return FileAnswer.isPage(try part.beginning(1024)) == true
      }
    }

    /// Of what is here. It is read from the file, and not taken as it comes: what another program wrote there, too, would
    /// get the file's name.
    func checksum() throws -> String {
      let (file, part) = try state.withLock { ($0.part.isInMemory ? nil : try $0.part.files().bytes, $0.part) }
      guard let file else { return SHA256.hash(data: Data(part.early)).hexadecimal }
      // Some file systems set its time when it is flushed.
      try trusting { try folder.flush(file, part.path) }
      let status = try status(of: file, part)
      state.withLock { $0.summed = status }
      return try file.sha256(length: part.length, part.path).finalize().hexadecimal
    }

    // MARK: Growing

    /// How many bytes of the file need not come again, if the server still has that version.
    var resumable: Int64 {
      state.withLock { $0.part.canGoOn(hasChecksum: hasChecksum) ? $0.part.length : 0 }
    }

    /// The last byte is asked for again: what answers tells whether the part is of the version that the server has.
    func dropLastByte() throws { try state.withLock { try $0.part.cut(to: $0.part.length - 1) } }

    /// The file comes from its first byte on. What is here is put aside, if it can be gone on with, for the longer of two.
    ///
    /// Returns false if some of this very version is aside, and `mayTurn`: then that is what grows, and its rest is what to
    /// ask for.
    func begin(_ version: FileVersion, mayTurn: Bool) throws -> Bool {
      // What is put aside is not flushed any more.
      if !isInMemory, resumable > record.flushed { try flush(length) }
      return try state.withLock { state in
        if mayTurn, let aside = state.aside, aside.canGoOn(hasChecksum: hasChecksum),
          let validator = version.validator, aside.record.version.validator == validator
        {
          state.turn()
          return false
        }
        state.wasBegunAnew = state.wasBegunAnew || state.part.length > 0
        let highest = [state.part, state.aside].compactMap { $0 }.map { max($0.record.highest, $0.length) }.max()
        if let aside = state.aside, aside.length < state.part.length, state.part.canGoOn(hasChecksum: hasChecksum) {
          state.turn()
        }
        try state.part.startOver(highest: highest ?? 0)
        return true
      }
    }

    /// What the server says of the file whose bytes come now.
    func learn(
      _ version: FileVersion, serverName: String?, modified: Date?, isDecoded: Bool, takesRanges: Bool? = nil
    ) throws {
      try state.withLock { state in
        try state.part.change { record in
          record.isDecoded = isDecoded
          record.takesRanges = takesRanges
          record.version = version
          record.name = serverName
          record.modified = modified
        }
        if isDecoded || version.total ?? .max > Part.smallBytes { _ = try state.part.files() }
      }
    }

    /// Whether there is more of the file here than there ever was when this was asked before.
    func isFurther() throws -> Bool {
      try state.withLock { state in
        let length = state.part.length
        guard length > state.part.record.highest else { return false }
        try state.part.change { $0.highest = length }
        return true
      }
    }

    /// Throws ``DownloadError/Code/noRoom`` where so many bytes would be taken from what is left to others.
    func leaveRoom(after count: Int) throws {
      guard let (free, _, reserve) = folder.room, free - Int64(count) < reserve else { return }
      var error = DownloadError(.noRoom, "no room in \(folder.path): \(free) bytes are free, and left to others")
      error.isOfFullDisk = true
      throw error
    }

    /// Whether another attempt has to begin with the first byte, by all that is known.
    private var comesAnew: Bool {
      state.withLock {
        $0.wasBegunAnew || $0.part.record.takesRanges == false || !$0.part.canGoOn(hasChecksum: hasChecksum)
      }
    }

    /// The disk is full: where what came can't be gone on with, it goes, and it is recorded how much room was not enough.
    /// Returns that, or nil where it stays.
    func giveWay() -> PartRecord.Shortage? {
      guard !isInMemory, comesAnew else { return nil }
      return state.withLock { state in
        let part = state.part
        let shortage = PartRecord.Shortage(room: part.length, rounds: (part.record.shortage?.rounds ?? 0) + 1)
        do {
          try state.part.startOver(highest: max(part.record.highest, part.length))
          try state.part.change { $0.shortage = shortage }
          return shortage
        } catch {
          state.part.discard()
          return nil
        }
      }
    }

    /// Only one task at a time appends. Throws where somebody else has cut what is there: there would be a hole.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
      let place = try state.withLock { state -> (file: Descriptor, part: Part)? in
        if state.part.keepInMemory(bytes) { return nil }
        return (try state.part.files().bytes, state.part)
      }
      if let (file, part) = place {
        guard try part.holds(part.length, file) else { throw changed(part) }
        let end = try file.write(bytes, at: part.length, part.path)
        state.withLock { $0.part.grew(to: end) }
      }
    }

    /// The first `length` bytes, written before, are on the disk when this returns, and so is the record that says so. May
    /// be called while another task appends. If it fails, nothing can be done any more but to ``settle()``.
    func flush(_ length: Int64) throws {
      let (files, part) = try state.withLock { (try $0.part.files(), $0.part) }
      try trusting {
        try folder.flush(files.bytes, part.path)
        if !part.isEntered { try folder.flush() }
      }
      guard try part.holds(length, files.bytes) else { throw wasChanged(part) }
      var record = part.record
      let tail = try files.bytes.tail(before: length, part.path)
      (record.flushed, record.tail) = (length, tail)
      try files.record.append(record.flushLine, part.recordPath)
      try trusting { try folder.flush(files.record, part.recordPath) }
      state.withLock { $0.part.wasFlushed(length, tail) }
    }

    func trusting<R>(_ flush: () throws -> R) throws -> R {
      do {
        return try flush()
      } catch {
        state.withLock { $0.part.distrust(error) }
        throw error
      }
    }

    // MARK: Ends without the file

    /// The attempt is over: what came is on the disk when this returns, or is cut off. A part of nothing goes.
    func settle() {
      if length > record.flushed { try? flush(length) }
      state.withLock { state in
        state.part.discardIfShort()
        if state.part.doubt != nil { try? state.part.cut(to: state.part.record.flushed) }
        if state.part.length == 0, state.part.record.shortage == nil { state.part.discard() }
        if state.aside?.length == 0 { state.aside?.discard() }
      }
    }

    /// Removes what came: the bytes are not what they should be.
    func discard() { state.withLock { $0.part.discard() } }

    /// The other version is not needed any more, or there is no room for two. Returns whether there was one.
    @discardableResult
    func discardOther() -> Bool {
      state.withLock { state in
        guard let length = state.aside?.length else { return false }
        state.aside?.discard()
        state.aside = nil  // which closes its files
        return length > 0
      }
    }
  }
#endif
