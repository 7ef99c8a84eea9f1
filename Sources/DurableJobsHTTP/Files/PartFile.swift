#if HTTP
  import DurableJobs
  import Foundation

  /// An incomplete file, held as a ``Part``. If the server has another version, the new one goes to a part of its own,
  /// `NAME~new.part`, and the old one is kept until the new one is complete: the download resumes whichever version the
  /// server has next time.
  ///
  /// A small file is kept in memory until it is complete or first flushed, and usually creates no such files.
  ///
  /// Its functions block; call them on the threads of ``DiskThreads``.
  final class PartFile: Sendable {
    struct State {
      /// The version being downloaded.
      var part: Part
      /// The other version, possibly empty; nil if its name is another download's.
      var aside: Part?
      /// The state of the file when its checksum was computed.
      var summed: FileStatus?
      /// Whether the bytes have the file's name, and are nobody's to discard.
      var isNamed = false
      /// Whether the server sent the file from its first byte although some of it was here.
      var wasBegunAnew = false
      /// How much of the version being downloaded was here before this attempt; 0 once that begins anew.
      var before: Int64

      init(part: Part) {
        self.part = part
        before = part.length
      }

      mutating func turn() {
        guard let other = aside else { return }
        (part, aside) = (other, part)
        before = part.length
      }
    }

    let folder: Folder
    /// A second name of the file, if it is named from memory, until its job's success is stored.
    let mark: String
    let state: Lock<State>
    private let hasChecksum: Bool

    /// It is held elsewhere, or belongs to another download.
    enum Taken: Error {
      case isHeld(byURL: String?)
      /// `ofURL` is the URL of the download that left it, if known.
      case isForeign(DownloadError, ofURL: String?)
    }

    /// Takes over what is there; of two versions, the one of which more can be gone on with. Throws ``Taken``.
    init(
      _ name: FileName, mark: String, in folder: Folder, url: String, sha256: String?, asker: Asker = Asker(),
      permissions: FilePermissions?
    ) throws {
      self.folder = folder
      self.mark = mark
      hasChecksum = sha256 != nil
      func part(_ name: FileName) throws -> Part {
        try Part(name, in: folder, url: url, sha256: sha256, asker: asker, permissions: permissions)
      }
      var state = State(part: try part(name))
      do {
        state.aside = try part(name.new)
      } catch Taken.isHeld(let other?) where other != url {
      } catch Taken.isForeign {
      } catch let error as DownloadError where error.code == .fileExists {
      }
      if let aside = state.aside,
        aside.resumable(hasChecksum: hasChecksum) > state.part.resumable(hasChecksum: hasChecksum)
      {
        state.turn()
      }
      self.state = Lock(state)
    }

    var path: String { state.withLock { $0.part.path } }
    var record: PartRecord { state.withLock { $0.part.record } }
    /// How many bytes of the file are here.
    var length: Int64 { state.withLock { $0.part.length } }
    /// Whether nothing of it is on disk.
    var isInMemory: Bool { state.withLock { $0.part.isInMemory } }

    /// Whether it starts like a web page.
    var beginsAsPage: Bool {
      get throws {
        let part = state.withLock { $0.part }
        return FileAnswer.isPage(try part.beginning(1024)) == true
      }
    }

    /// The checksum of what is here. Computed from the file and not while receiving, since the file would also contain
    /// what another program wrote to it.
    func checksum() throws -> String {
      let (file, part) = try state.withLock { ($0.part.isInMemory ? nil : try $0.part.files().bytes, $0.part) }
      guard let file else { return SHA256.hash(data: Data(part.early)).hexadecimal }
      // Some file systems change its time when it is flushed.
      try trusting { try folder.flush(file, part.path) }
      let status = try status(of: file, part)
      state.withLock { $0.summed = status }
      return try file.sha256(length: part.length, part.path).finalize().hexadecimal
    }

    /// Whom the bytes are for, once it is known what they replace.
    func set(_ permissions: FilePermissions?) {
      state.withLock {
        $0.part.set(permissions)
        $0.aside?.set(permissions)
      }
    }

    // MARK: Growing

    /// How many bytes need not be downloaded again if the server still has that version.
    var resumable: Int64 { state.withLock { $0.part.resumable(hasChecksum: hasChecksum) } }

    /// Its last bytes, if they must show that the server still has this file: a redirect from `url` led to one of a query,
    /// which may be made anew each time, or name another version.
    func proof(besides url: HTTPURL) throws -> [UInt8] {
      try state.withLock { state in
        let version = state.part.record.version
        guard !hasChecksum, let source = version.source ?? version.place, source.contains("?"), source != url.source
        else { return [] }
        return try state.part.end(Int(min(state.part.length - 1, 4096)))
      }
    }

    /// Whether that text came in place of the rest so often, and for so long, that it is the file by now. One that says why a
    /// file can't be had passes, or changes. Nil for any other answer.
    func hasBecome(text: String?, at now: Date) throws -> Bool {
      try state.withLock { state in
        let known = state.part.record.text.flatMap { $0.mark == text && $0.since ?? .distantFuture <= now ? $0 : nil }
        let next = text.map {
          PartRecord.Text(
            mark: $0, times: min((known?.times ?? 0) + 1, PartRecord.Text.enough), since: known?.since ?? now)
        }
        try state.part.change { $0.text = next }
        guard let next else { return false }
        return next.times >= PartRecord.Text.enough
          && next.since.map(now.timeIntervalSince) ?? 0 >= PartRecord.Text.longEnough
      }
    }

    /// Drops the last byte to request it again: the answer shows whether the server has the version of the part.
    func dropLastByte() throws { try state.withLock { try $0.part.cut(to: $0.part.length - 1) } }

    /// Prepares for the file's first byte. What is here is set aside if it can be resumed; of two, that of which more can.
    ///
    /// Returns false if some of this version was set aside, and `mayTurn`: then that part is active, to be resumed.
    func begin(_ version: FileVersion, mayTurn: Bool) throws -> Bool {
      // What is set aside is not flushed later.
      if !isInMemory, resumable > record.flushed { try flush(length) }
      return try state.withLock { state in
        if mayTurn, let aside = state.aside, aside.resumable(hasChecksum: hasChecksum) > 0,
          let validator = version.validator, aside.record.version.validator == validator
        {
          state.turn()
          return false
        }
        state.wasBegunAnew = state.wasBegunAnew || state.part.length > 0
        let highest = [state.part, state.aside].compactMap { $0 }.map { max($0.record.highest, $0.length) }.max()
        if let aside = state.aside,
          aside.resumable(hasChecksum: hasChecksum) < state.part.resumable(hasChecksum: hasChecksum)
        {
          state.turn()
        }
        try state.part.startOver(highest: highest ?? 0)
        state.before = 0
        return true
      }
    }

    /// Records what the server says about the file that follows.
    func learn(
      _ version: FileVersion, serverName: String?, modified: Date?, isDecoded: Bool, takesRanges: Bool? = nil
    ) throws {
      try state.withLock { state in
        try state.part.change { record in
          record.isDecoded = isDecoded
          record.takesRanges = takesRanges
          (record.version, record.text) = (version, nil)
          record.name = serverName
          record.modified = modified
        }
        if isDecoded || version.total ?? .max > Part.smallBytes { _ = try state.part.files() }
      }
    }

    /// Whether this attempt brought the file further: it went on with what was here, or there is more than ever was. What begins
    /// anew each time would else come to no end.
    func isFurther() throws -> Bool {
      try state.withLock { state in
        let length = state.part.length
        let wentOn = state.before > 0 && length > state.before
        guard wentOn || length > state.part.record.highest else { return false }
        state.before = length
        try state.part.change { $0.highest = max($0.highest, length) }
        return true
      }
    }

    /// Throws ``DownloadError/Code/noRoom`` if this many bytes would use space left to others.
    func leaveRoom(after count: Int) throws {
      guard let room = folder.room, room.free - Int64(count) < room.reserve else { return }
      var error = DownloadError(
        .noRoom, "no room in \(folder.path): \(room.free) bytes are free, and left to others; free some space")
      error.isOfFullDisk = true
      throw error
    }

    /// Whether another attempt would have to start with the first byte, as far as is known.
    private var comesAnew: Bool {
      state.withLock {
        $0.wasBegunAnew || $0.part.record.takesRanges == false || $0.part.resumable(hasChecksum: hasChecksum) == 0
      }
    }

    /// Called when the disk is full: deletes what can't be resumed, and records how much space was not enough.
    /// Returns that, or nil if nothing was deleted.
    func giveWay() -> PartRecord.Shortage? {
      // Where there was room for no byte, others have filled it.
      guard !isInMemory, length > 0, comesAnew else { return nil }
      return state.withLock { state in
        // It is the file by now.
        if state.isNamed { return nil }
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

    /// Only one task at a time may append. Throws if another program has cut the file, which would leave a hole.
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

    /// Flushes the first `length` bytes, which were written before, and the record that says so. May be called while
    /// another task appends. After an error, only ``settle()`` may be called.
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

    /// Ends the attempt: flushes what was received, or cuts it off. Removes an empty part.
    func settle() {
      if length > record.flushed { try? flush(length) }
      state.withLock { state in
        // What has its name is known by its record alone.
        if !state.isNamed {
          state.part.discardIfShort()
          if state.part.doubt != nil { try? state.part.cut(to: state.part.record.flushed) }
          if state.part.length == 0, state.part.record.shortage == nil { state.part.discard() }
        }
        if state.aside?.length == 0 { state.aside?.discard() }
      }
    }

    /// Removes what came anew, since it is not the file: what it was to replace is what is here again.
    func takeBack() {
      state.withLock { state in
        state.part.discard()
        state.turn()
      }
    }

    /// Removes what was received because the bytes are wrong.
    func discard() { state.withLock { $0.part.discard() } }

    /// Removes the other version because it is not needed, or there is no room for two and that has the bytes that lack.
    /// Returns whether there was one.
    @discardableResult
    func discardOther(ifItHas lacking: Int64 = 0) -> Bool {
      state.withLock { state in
        guard let length = state.aside?.length, length >= lacking else { return false }
        state.aside?.discard()
        state.aside = nil  // which closes its files
        return length > 0
      }
    }
  }
#endif
