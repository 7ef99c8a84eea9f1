#if HTTP
  import DurableJobs
  import Foundation

  /// One attempt to download a file: from what is already here to the file under its final name.
  struct Transfer {
    let job: KnownJob
    let download: Download
    let request: FileRequest
    let reception: Reception
    let permissions: Int?
    /// The file at that path as a download of this store brought it, if one did, and its job.
    let recorded: @Sendable (String) async throws -> (DownloadedFile, KnownJob)?
    /// The last jobs of this store with the same download that ended without success, and whether their requests were
    /// the same as this one's.
    let ended: @Sendable () async throws -> [(job: KnownJob, isSame: Bool)]
    /// Whether another download here brought the file of that name after this one was asked for.
    let cameSince: @Sendable (FileName, FileStatus, Folder, _ users: String?) async throws -> Bool
    /// Whether another download here brought that very file, whenever that was.
    let cameEver: @Sendable (FileName, FileStatus, Folder, _ users: String?) async throws -> Bool
    /// The file that was in place when the job's first attempt looked: this one, if it is the first.
    let stoodAtFirst: @Sendable (StandingFile) async throws -> StandingFile
    /// Reports what the file lacks although it was requested, or that its server was not asked.
    let remark: @Sendable (String) -> Void
    /// Of all downloads that run here.
    let promises: RoomPromises
    let secondNames: SecondNames
    let url: String
    /// The given name, or the one from the URL.
    let name: FileName
    /// The same name, made specific to this URL.
    let own: FileName
    /// The checksum of an existing file.
    let summed = Lock<(file: FileStatus, sum: String?)?>(nil)
    /// A second name of what this job names.
    let mark: String

    /// The path of the store's file, if it is in one.
    let store: String?

    /// Throws ``DownloadError`` if the given name is not valid.
    init(
      job: KnownJob, download: Download, request: FileRequest, reception: Reception, permissions: Int?,
      recorded: @escaping @Sendable (String) async throws -> (DownloadedFile, KnownJob)?,
      ended: @escaping @Sendable () async throws -> [(job: KnownJob, isSame: Bool)],
      cameSince: @escaping @Sendable (FileName, FileStatus, Folder, String?) async throws -> Bool,
      cameEver: @escaping @Sendable (FileName, FileStatus, Folder, String?) async throws -> Bool,
      stoodAtFirst: @escaping @Sendable (StandingFile) async throws -> StandingFile,
      remark: @escaping @Sendable (String) -> Void, promises: RoomPromises, secondNames: SecondNames, store: String?
    ) throws {
      self.job = job
      self.download = download
      self.request = request
      self.reception = reception
      self.permissions = permissions
      self.recorded = recorded
      self.ended = ended
      self.cameSince = cameSince
      self.cameEver = cameEver
      self.stoodAtFirst = stoodAtFirst
      self.remark = remark
      self.promises = promises
      self.secondNames = secondNames
      self.store = store
      url = download.url.withoutCredentials
      if let wish = download.name {
        guard let name = FileName(exactly: wish) else {
          throw DownloadError(.invalidDownload, "'\(wish)' can't be the name of a file")
        }
        self.name = name
      } else {
        name = FileName(of: download.url)
      }
      own = name.apart(for: url)
      mark = name.mark(for: url, job)
    }

    struct Result {
      var file: DownloadedFile
      /// To be removed once the job's success has been stored.
      var proof: NamingProof?
    }

    /// What proves that this job brought a file that has its name, and stays beside it: the record of its part, which
    /// nobody else has as long as the part is held here, or a second name.
    struct NamingProof {
      let folder: Folder
      let mark: String
      var part: PartFile?
      /// One that an attempt before this left, and nobody holds.
      var record: (name: String, job: KnownJob)?

      func remove() {
        // Of what has its name only the record is left.
        part?.discard()
        if let record { PartFile.dropRecord(record.name, of: record.job, in: folder) }
        folder.drop(mark)
      }
    }

    /// Throws ``Setback``, ``DownloadError`` or `CancellationError`. What arrived is kept, unless it was wrong.
    func run() async throws -> Result {
      let folder = try Folder(path: download.folder)
      for name in [name, own] {
        guard
          let (file, record) = try PartFile.recorded(name, in: folder, download, by: job, asker: request.asker)
        else { continue }
        return Result(file: file, proof: NamingProof(folder: folder, mark: mark, record: (record, job)))
      }
      if folder.status(of: mark) != nil {
        if let file = try PartFile.marked(mark, as: name, in: folder, download, by: request.asker)
          ?? (download.name == nil ? PartFile.marked(mark, as: nil, in: folder, download, by: request.asker) : nil)
        {
          // It came in memory, beside a part of another version.
          for name in [name, own] { PartFile.clear(name, in: folder, download) }
          return Result(file: file, proof: NamingProof(folder: folder, mark: mark))
        }
        // It came to no other name.
        folder.drop(mark)
      }
      if let file = try await existing(name, folder, isFinalName: download.name != nil) {
        remark("the server was not asked")
        // Left by an attempt that was killed, while the file came in another way.
        if let sum = file.sha256 { for name in [name, own] { PartFile.clear(name, in: folder, download, for: sum) } }
        return Result(file: file)
      }
      let before = try await standing(folder)
      // A server may call its file otherwise: whom that is for is known with its answer.
      let isNamed = download.name != nil || !download.overwrites
      let part = try part(in: folder, permissions: isNamed ? permissions(replacing: before) : nil)
      try checkShortage(part)
      defer { promises.end(part) }
      do {
        let file = try await reception.watching(part) { try await fetch(part, before) }
        dropUnnamed(in: folder)
        let proof = NamingProof(folder: folder, mark: mark, part: part)
        return Result(file: file, proof: file.wasThere ? nil : proof)
      } catch is PartFile.Taken {
        throw isTaken(folder)
      } catch {
        let shortage = isUntold(part) && (error as? DownloadError)?.isOfFullDisk == true ? part.giveWay() : nil
        if let shortage, shortage.rounds >= Self.mostShortages {
          part.discard()
          throw Setback.final(hasNoEnd(shortage, folder))
        }
        part.settle()
        // Of what was unpacked no rest can be asked for; only a whole file of another checksum is told to be there.
        if case Setback.final(let why) = error, why.code != .wrongContent, part.record.isDecoded { part.discard() }
        guard let error = error as? DownloadError, [.connection, .stalled].contains(error.code), try part.isFurther()
        else { throw error }
        throw Setback.wentFurther(error)
      }
    }

    /// The file in place, if it is the one that the job's first attempt found there: that may be long ago.
    private func standing(_ folder: Folder) async throws -> FileStatus? {
      let status = folder.status(of: name.description)
      guard download.overwrites else { return status }
      return try await stoodAtFirst(StandingFile(status)) == StandingFile(status) ? status : nil
    }

    /// The permissions of the replaced file, if it is this user's.
    func permissions(replacing file: FileStatus?) -> FilePermissions? {
      guard download.overwrites, let file, file.isRegular, file.owner == geteuid() else {
        return permissions.map(FilePermissions.init)
      }
      return FilePermissions(of: file)
    }

    private func isTaken(_ folder: Folder) -> Setback {
      .heldUp(by: "another download writes \(folder.path(of: name.part))", for: .seconds(2))
    }

    /// The part of that name; one of this URL's own if another URL has that part and the name is not given, or if
    /// nobody's part may keep the file from being replaced.
    private func part(in folder: Folder, permissions: FilePermissions?) throws -> PartFile {
      func open(_ name: FileName) throws -> PartFile {
        try PartFile(
          name, mark: mark, in: folder, url: url, sha256: download.sha256?.lowercased(), asker: request.asker,
          permissions: permissions)
      }
      do {
        guard [own, own.new].allSatisfy({ folder.status(of: $0.record) == nil }) else {
          return try open(own)
        }
        do {
          return try open(name)
        } catch PartFile.Taken.isHeld(let other?) where download.name == nil && other != url {
          return try open(own)
        } catch PartFile.Taken.isForeign(_, let other) where download.overwrites || download.name == nil && other != nil
        {
          return try open(own)
        }
      } catch PartFile.Taken.isForeign(let error, _) {
        throw error
      } catch is PartFile.Taken {
        throw isTaken(folder)
      }
    }
  }

  extension Sequence<UInt8> {
    var hexadecimal: String {
      map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
  }
#endif
