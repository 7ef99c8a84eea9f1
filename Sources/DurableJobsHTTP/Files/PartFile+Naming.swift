#if HTTP
  import DurableJobs
  import Foundation

  /// Giving a complete file its name, and recognizing it if the process dies before its job's success is stored.
  extension PartFile {
    /// Flushes the complete file, and gives it its name. Nil if the name belongs to a file other than `replacing`.
    ///
    /// What is to be is recorded first: an attempt that comes after a crash finds the file in its place, and knows it.
    /// That it is `owner`'s is noted on it; with its version, unless that is not known for sure. It has these `permissions` when
    /// it gets its name, or those of its part. `remark` is told what the file has not got, though it was asked for.
    func finish(
      as final: FileName, by job: KnownJob, of owner: FileOwner, modified: Date?, sha256: String?,
      replacing: FileStatus?, permissions: FilePermissions? = nil, isVersion: Bool = true,
      remark: (String) -> Void = { _ in }
    ) throws -> DownloadedFile? {
      if replacing == nil {
        switch try nameFromMemory(as: final, modified, sha256, owner, permissions, isVersion: isVersion, remark) {
        case .done(let file): return file
        case .isTaken: return nil
        case .isImpossible: break
        }
      }
      let (files, part) = try state.withLock { (try $0.part.files(), $0.part) }
      if let summed = state.withLock({ $0.summed }), try status(of: files.bytes, part).modified != summed.modified {
        throw changed(part)
      }
      if let modified { try files.bytes.set(modified: modified, part.path).map(remark) }
      guard try part.holds(part.length, files.bytes) else { throw changed(part) }
      let tail = try files.bytes.tail(before: part.length, part.path)
      let status = try flushed {
        try self.status(of: files.bytes, part)
      } with: { status in
        try state.withLock { state in
          try state.part.change { record in
            record.whole = PartRecord.Whole(
              job: job.id, nonce: job.nonce, name: final.description, size: status.size, modified: status.modified,
              tail: tail)
          }
        }
        try trusting { try folder.flush(files.record, part.recordPath) }
        files.bytes.note(FileNote(owner, isVersion ? part.record.version : nil, final, status, tail: tail))
        try trusting { try folder.flush(files.bytes, part.path) }
      }
      try folder.checkPlace()
      // What was to be replaced may be gone by now, or changed.
      let there = folder.status(of: final.description)
      if let replacing, let there, !there.isAs(replacing) { return nil }
      set(permissions)
      guard try folder.rename(part.name.part, to: final.description, replacing: replacing != nil && there != nil)
      else { return nil }
      state.withLock { state in
        state.isNamed = true
        // What fails from here on cuts nothing off.
        state.part.wasFlushed(status.size, tail)
      }
      if let permissions { fchmod(files.bytes.number, mode_t(permissions.mode(of: status))) }
      try folder.flush()
      discardOther()
      return folder.fetched(final.description, status, as: owner.users, sha256: sha256, tail: tail)
    }

    /// The file's `status` once it is on the disk with what is said of it, which `flush` writes and flushes: some file systems
    /// change its time with that.
    private func flushed(_ status: () throws -> FileStatus, with flush: (FileStatus) throws -> Void) throws
      -> FileStatus
    {
      var said = try status()
      for _ in 0..<3 {
        try flush(said)
        let now = try status()
        if now.modified == said.modified { break }
        said = now
      }
      return said
    }

    private enum Naming {
      case done(DownloadedFile)
      case isTaken
      /// It is on disk already, hard links or notes are not available, or the second name is in use.
      case isImpossible
    }

    /// The shorter way for a file that is not on disk: it is written under a name derived from the job, and keeps that
    /// as a second name until the success is stored.
    private func nameFromMemory(
      as final: FileName, _ modified: Date?, _ sha256: String?, _ owner: FileOwner, _ permissions: FilePermissions?,
      isVersion: Bool, _ remark: (String) -> Void
    ) throws -> Naming {
      guard let bytes = state.withLock({ $0.part.isInMemory ? $0.part.early : nil }) else { return .isImpossible }
      guard let file = try? folder.lock(mark, mode: permissions?.atFirst ?? 0o666) else { return .isImpossible }
      var isNamed = false
      defer { if !isNamed { folder.remove(mark) } }
      if let permissions {
        let status = try FileStatus(of: file, folder.path(of: mark))
        fchmod(file.number, mode_t(permissions.mode(of: status)))
      }
      // By its second name alone nobody could tell what has become of it.
      var isNoted = file.note(part: mark)
      guard isNoted else { return .isImpossible }
      try file.cut(to: 0, folder.path(of: mark))
      _ = try bytes.withUnsafeBytes { try file.write($0, at: 0, folder.path(of: mark)) }
      if let modified { try file.set(modified: modified, folder.path(of: mark)).map(remark) }
      let tail = try file.tail(before: Int64(bytes.count), folder.path(of: mark))
      let status = try flushed {
        try self.status(of: file, mark)
      } with: { status in
        isNoted = file.note(FileNote(owner, isVersion ? record.version : nil, final, status, tail: tail))
        try folder.flush(file, folder.path(of: mark))
      }
      guard isNoted else { return .isImpossible }
      try folder.checkPlace()
      switch try folder.link(mark, to: final.description) {
      case .isImpossible: return .isImpossible
      case .isTaken: return .isTaken
      case .done: isNamed = true
      }
      try folder.flush()
      discardOther()
      return .done(folder.fetched(final.description, status, as: owner.users, sha256: sha256, tail: tail))
    }

    /// The status of the file of the bytes, if it has exactly what was received: others may have written to it.
    func status(of file: Descriptor, _ part: Part) throws -> FileStatus {
      let status = try status(of: file, part.name.part)
      guard status.size == part.length else { throw changed(part) }
      return status
    }

    /// Discards a file with unknown contents.
    func changed(_ part: Part) -> DownloadError {
      discard()
      return wasChanged(part)
    }

    func wasChanged(_ part: Part) -> DownloadError {
      DownloadError(.disk, "\(part.path) was changed by something else while it grew; the file begins anew")
    }

    private func status(of file: Descriptor, _ name: String) throws -> FileStatus {
      let path = folder.path(of: name)
      let status = try FileStatus(of: file, path)
      guard let there = folder.status(of: name) else {
        throw DownloadError(.disk, "\(path) was removed while it grew; the file begins anew")
      }
      guard there == status else {
        throw DownloadError(.fileExists, "\(path) was replaced by something else; remove it")
      }
      return status
    }

    // MARK: After a crash

    /// A file that an earlier attempt of the same job named without being able to report it, found by the record of a
    /// part; and that record. Removes what is left of the other part. What came for another one than `asker` is not this one's.
    static func recorded(
      _ name: FileName, in folder: Folder, _ download: Download, by job: KnownJob, asker: Asker = Asker()
    ) throws -> (file: DownloadedFile, record: String)? {
      for (name, other) in [(name, name.new), (name.new, name)] {
        guard let file = try named(name, in: folder, download, by: job, asker) else { continue }
        remove(other, in: folder, download)
        return (file, name.record)
      }
      return nil
    }

    private static func named(
      _ name: FileName, in folder: Folder, _ download: Download, by job: KnownJob, _ asker: Asker
    ) throws -> DownloadedFile? {
      guard folder.status(of: name.record) != nil, let file = try folder.open(name.record, O_RDONLY),
        let record = PartRecord(try file.read(folder.path(of: name.record))),
        record.url == download.url.withoutCredentials, record.asker == asker.own,
        asker.mayAsk(as: record.version.users), let whole = record.whole,
        KnownJob(whole.job, nonce: whole.nonce) == job,
        let status = folder.status(of: whole.name),
        status.isRegular, status.size == whole.size, status.modified == whole.modified, folder.isOurs(status),
        // Bytes that only have the part's name never got the file's.
        folder.status(of: name.part).map({ $0.inode == status.inode }) ?? true,
        // Another file may have its size and its time, and its place by now.
        let bytes = try? folder.open(whole.name, O_RDONLY),
        try whole.tail.map({ try bytes.tail(before: whole.size, folder.path(of: whole.name)) == $0 })
          ?? record.isOf(bytes, status, folder.path(of: whole.name))
      else { return nil }
      guard let file = try confirmed(whole.name, status, in: folder, download, as: record.version.users) else {
        return nil
      }
      // Between getting its name and losing the old one, it has two.
      if folder.status(of: name.part)?.inode == status.inode { folder.remove(name.part) }
      try folder.flush()
      return file
    }

    /// The same, found by the second name of the file, and as its note says that it was brought: as `final`, or under the
    /// name that its server gave it if that is nil.
    static func marked(
      _ mark: String, as final: FileName?, in folder: Folder, _ download: Download, by asker: Asker = Asker()
    ) throws -> DownloadedFile? {
      guard let kept = folder.status(of: mark), kept.isRegular, kept.links > 1, folder.isOurs(kept) else { return nil }
      let names = final.map { [$0.description] } ?? folder.names { !$0.hasSuffix(".part") }
      let noted = folder.noted(mark, kept, for: FileOwner(download, as: nil), by: asker)
      guard let name = names.first(where: { noted.isNamed($0) && folder.status(of: $0)?.inode == kept.inode }),
        let file = try confirmed(name, kept, in: folder, download, as: noted.users)
      else { return nil }
      try folder.flush()
      return file
    }

    /// Whether that job gave the file this name and may not have stored so yet.
    static func isNamed(
      _ final: FileName, _ file: FileStatus, in folder: Folder, _ download: Download, by job: KnownJob
    ) -> Bool {
      let name = download.name.flatMap { FileName(exactly: $0) } ?? FileName(of: download.url)
      let mark = name.mark(for: download.url.withoutCredentials, job)
      if let kept = folder.status(of: mark), kept.inode == file.inode { return true }
      return download.partRecords(in: folder).compactMap(\.whole).contains {
        ($0.name == final.description || folder.status(of: $0.name)?.inode == file.inode)
          && KnownJob($0.job, nonce: $0.nonce) == job
      }
    }

    /// The file, if it has the required size and checksum.
    private static func confirmed(
      _ name: String, _ status: FileStatus, in folder: Folder, _ download: Download, as users: String?
    ) throws -> DownloadedFile? {
      guard download.size == nil || download.size == status.size else { return nil }
      let sha256 = download.sha256 == nil ? nil : try folder.checksum(of: name)
      guard sha256 == download.sha256?.lowercased() else { return nil }
      return folder.fetched(name, status, as: users, sha256: sha256, tail: folder.tail(of: name, status))
    }

    /// Removes the record by which a file of `job` was known, unless somebody has taken its place since.
    static func dropRecord(_ name: String, of job: KnownJob, in folder: Folder) {
      guard folder.status(of: name) != nil, let file = try? folder.lock(name),
        let text = try? file.read(folder.path(of: name))
      else { return }
      // An empty one was made here.
      let whole = PartRecord(text)?.whole
      if text.isEmpty || whole.map({ KnownJob($0.job, nonce: $0.nonce) == job }) == true { folder.remove(name) }
    }

    /// Removes a record without a part, left by a process that died between storing the success and this.
    static func clearRecords(of name: FileName, in folder: Folder, _ download: Download) {
      for name in [name, name.new] where folder.status(of: name.part) == nil { remove(name, in: folder, download) }
    }

    /// Removes the parts of a file that is here whole; with a checksum only those of a file that is to have it. One without,
    /// or with another, may be of another version, which somebody wants.
    static func clear(_ name: FileName, in folder: Folder, _ download: Download, for sum: String? = nil) {
      for name in [name, name.new] where sum == nil || folder.record(of: name)?.sha256 == sum {
        remove(name, in: folder, download)
      }
    }

    /// Removes a part that `download` left, unless it is in use.
    private static func remove(_ name: FileName, in folder: Folder, _ download: Download) {
      var part = try? Part(
        name, in: folder, url: download.url.withoutCredentials, sha256: nil, permissions: nil)
      part?.discard()
    }
  }

  extension Folder {
    /// The result for a file that was downloaded and has its name.
    fileprivate func fetched(
      _ name: String, _ status: FileStatus, as users: String?, sha256: String?, tail: String?
    ) -> DownloadedFile {
      var file = DownloadedFile(
        path: path(of: name), size: status.size, sha256: sha256, modified: status.modified, wasThere: false)
      (file.tail, file.user) = (tail, users)
      return file
    }
  }
#endif
