#if HTTP
  import DurableJobs
  import Foundation

  /// One attempt to bring a file here: from what is here already to the file under its own name.
  struct Transfer {
    let job: JobID
    let download: Download
    let request: FileRequest
    let reception: Reception
    let permissions: Int?
    /// The file at that path as a download of this store brought it, if one did, and its job.
    let recorded: @Sendable (String) async throws -> (DownloadedFile, JobID)?
    private let url: String
    /// The name that is given, or that the URL gives.
    private let name: FileName
    /// The same of this URL only.
    private let own: FileName
    /// A second name of what this job names.
    private let mark: String

    /// Throws ``DownloadError`` if the name that is given can't be one.
    init(
      job: JobID, download: Download, request: FileRequest, reception: Reception, permissions: Int?,
      recorded: @escaping @Sendable (String) async throws -> (DownloadedFile, JobID)?
    ) throws {
      self.job = job
      self.download = download
      self.request = request
      self.reception = reception
      self.permissions = permissions
      self.recorded = recorded
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
      /// To be removed once the job's success is stored.
      var leftover: Leftover?
    }

    /// What stays beside a file that has its name: the record of its part, which nobody else has as long as the part is held
    /// here, or a second name.
    struct Leftover {
      let folder: Folder
      let record: String?
      let mark: String
      let part: PartFile?

      func remove() {
        if let record { folder.remove(record) }
        folder.drop(mark)
      }
    }

    /// Throws ``Setback``, ``DownloadError`` or `CancellationError`. What came is kept, unless it was wrong.
    func run() async throws -> Result {
      let folder = try Folder(path: download.folder)
      for name in [name, own] {
        guard let file = try PartFile.recorded(name, in: folder, download, by: job) else { continue }
        return Result(file: file, leftover: Leftover(folder: folder, record: name.record, mark: mark, part: nil))
      }
      if let file = try PartFile.marked(mark, as: name, in: folder, download) {
        return Result(file: file, leftover: Leftover(folder: folder, record: nil, mark: mark, part: nil))
      }
      if let file = try await existing(name, folder, isFinalName: download.name != nil) { return Result(file: file) }
      let part = try part(in: folder)
      do {
        let file = try await reception.watching(part) { try await fetch(part) }
        let leftover = Leftover(folder: folder, record: part.leftRecord, mark: mark, part: part)
        return Result(file: file, leftover: file.wasThere ? nil : leftover)
      } catch is PartFile.Taken {
        throw isTaken(folder)
      } catch {
        if part.length == 0 {
          part.discard()
        } else if part.length > part.record.flushed {
          try? part.flush(part.length)
        }
        guard let error = error as? DownloadError, [.connection, .stalled].contains(error.code), try part.isFurther()
        else { throw error }
        throw Setback.wentFurther(error)
      }
    }

    private func isTaken(_ folder: Folder) -> Setback {
      .mustWait("another download writes \(folder.path(of: name.part))", .seconds(2))
    }

    /// The part of that name; where another URL's has it, and the name is not given, one of this URL's own.
    private func part(in folder: Folder) throws -> PartFile {
      func open(_ name: FileName) throws -> PartFile {
        try PartFile(
          name, mark: mark, in: folder, url: url, overwrites: download.overwrites, hashes: download.sha256 != nil,
          permissions: permissions)
      }
      do {
        guard download.name != nil || folder.status(of: own.record) == nil else { return try open(own) }
        do {
          return try open(name)
        } catch PartFile.Taken.isHeld(let other?) where download.name == nil && other != url {
          return try open(own)
        } catch PartFile.Taken.isForeign(_, .some) where download.name == nil {
          return try open(own)
        }
      } catch PartFile.Taken.isForeign(let error, _) {
        throw error
      } catch is PartFile.Taken {
        throw isTaken(folder)
      }
    }

    // MARK: What is there already

    /// The file of that name, if it is the one that is wanted. Throws for another one where the name is final.
    private func existing(_ name: FileName, _ folder: Folder, isFinalName: Bool) async throws -> DownloadedFile? {
      guard let status = folder.status(of: name.description) else { return nil }
      let path = folder.path(of: name.description)
      guard !status.isFolder else {
        throw DownloadError(.fileExists, "\(path) is a folder; choose another name, or another folder")
      }
      var found = DownloadedFile(
        path: path, size: status.size, sha256: nil, modified: status.modified, wasThere: true)
      if status.isRegular, let wanted = download.sha256?.lowercased() {
        found.sha256 = try folder.checksum(of: name.description)
        if found.sha256 == wanted { return found }
      }
      if download.overwrites { return nil }
      if status.isRegular, download.sha256 == nil, let (file, job) = try await recorded(path),
        file.size == status.size, file.modified == status.modified
      {
        // Of a process that died between storing the success and this.
        folder.drop(self.name.mark(for: url, job))
        found.sha256 = file.sha256
        return found
      }
      guard isFinalName else { return nil }
      throw Self.fileExists(path)
    }

    private static func fileExists(_ path: String) -> DownloadError {
      DownloadError(.fileExists, "\(path) is there already; move it away, or replace it with --overwrite")
    }

    // MARK: Fetching

    private func fetch(_ part: PartFile) async throws -> DownloadedFile {
      let wasBegun = part.length > 0
      var isInPieces = wasBegun
      var question = Answer.Question(
        size: download.size, hasChecksum: download.sha256 != nil, acceptsUnknownLength: download.acceptsUnknownLength,
        decodes: part.record.isDecoded, name: name.description)
      var isComplete = wasBegun && part.length == part.record.version.total
      var isPage = false
      // A server that contradicts itself, or sends nothing of what it promised, is asked three times.
      var fruitless = 0
      // What a cut leaves is gone on from at once, once; then others go first.
      var mayReconnect = true
      while !isComplete {
        question.offset = canResume(part) && !question.decodes ? part.length : 0
        question.known = part.record.version
        question.hasPart = wasBegun || part.length > 0
        let reply = try await reception.ended(waiting: request.host) { [question] in
          try await request.reply(to: question)
        }
        isPage = reply.answer.isPage
        switch reply.answer.verdict(on: question) {
        case .complete:
          isComplete = true
        case .askForAll(let reason):
          fruitless += 1
          guard fruitless < 3 else { throw Setback.forNow(DownloadError(.unusableAnswer, reason)) }
          try part.startOver()
        case .askDecoded:
          question.decodes = true
        case .redirect(let target):
          throw Setback.final(DownloadError(.unusableAnswer, "the redirect to '\(target)' was not followed"))
        case .failed(let error):
          throw Setback.final(error)
        case .failedForNow(let error, let retryAfter):
          throw Setback.busy(error, retryAfter: retryAfter, origin: reply.origin)
        case .body(let from, let end, let version):
          if let file = try await conflict(reply.answer.fileName, part) { return file }
          if from == 0 { try part.startOver() }
          isInPieces = from > 0
          // With a part of a file not all is said again that was said with the whole of it.
          let old = from > 0 ? part.record : nil
          try part.learn(
            version, serverName: reply.answer.fileName ?? old?.name,
            modified: reply.answer.lastModified ?? old?.modified, isDecoded: question.decodes)
          try checkRoom(part, until: version.total ?? download.size)
          let before = part.length
          if before > 0 { reception.goesOn(before) }
          do {
            try await reception.receive(
              reply.body, into: part, until: end ?? download.size.map { $0 + 1 }, of: version.total ?? download.size,
              request.host)
            fruitless = part.length > before ? 0 : fruitless + 1
            guard part.length >= end ?? download.size ?? 0, fruitless < 3 else {
              throw DownloadError(.connection, "\(request.host) closed the connection before the end of the file")
            }
          } catch let error as DownloadError where error.code == .connection && part.length > before {
            guard mayReconnect, canResume(part), !question.decodes else { throw error }
            mayReconnect = false
            continue
          }
          isComplete = version.total.map { part.length >= $0 } ?? true
        }
      }
      let sha256 = try check(part, isInPieces: isInPieces, isPage: isPage)
      return try await finish(part, sha256)
    }

    private func canResume(_ part: PartFile) -> Bool {
      part.record.version.validator != nil || download.sha256 != nil
    }

    /// The name that the server gives the file may be taken: better to know before its bytes come. Returns the file there
    /// if it is the one that is wanted.
    private func conflict(_ serverName: String?, _ part: PartFile) async throws -> DownloadedFile? {
      let final = finalName(serverName)
      if let file = try PartFile.marked(mark, as: final, in: part.folder, download) { return file }
      do {
        let file = try await existing(final, part.folder, isFinalName: true)
        if file != nil { part.discard() }
        return file
      } catch {
        if part.length == 0 { part.discard() }
        throw error
      }
    }

    private func finalName(_ serverName: String?) -> FileName {
      download.name == nil ? serverName.map { FileName(harmless: $0) } ?? name : name
    }

    private func checkRoom(_ part: PartFile, until total: Int64?) throws {
      guard let total, let free = part.folder.freeBytes, free < total - part.length else { return }
      throw Setback.mustWait(
        "no room in \(part.folder.path): \(total - part.length) bytes are needed, and \(free) are free", .seconds(10))
    }

    /// Returns the checksum, if one was asked for.
    private func check(_ part: PartFile, isInPieces: Bool, isPage: Bool) throws -> String? {
      if let size = download.size, part.length != size {
        throw wrong("the file has \(part.length) bytes, not \(size)", part, isInPieces: isInPieces, isPage: isPage)
      }
      guard let wanted = download.sha256?.lowercased() else { return nil }
      guard let sum = part.checksum, sum == wanted else {
        throw wrong(
          "the file's SHA-256 is \(part.checksum ?? "unknown"), not \(wanted)", part, isInPieces: isInPieces,
          isPage: isPage)
      }
      return sum
    }

    /// What came in pieces may have been put together wrongly, and a page may go away: another attempt begins anew. What came
    /// whole is what the server has, and is kept: it may be the checksum that is wrong.
    private func wrong(_ text: String, _ part: PartFile, isInPieces: Bool, isPage: Bool) -> Setback {
      if isPage || isInPieces { part.discard() }
      if isPage { return .forNow(.page(with: " (\(text))")) }
      if isInPieces { return .forNow(DownloadError(.wrongContent, text)) }
      return .final(DownloadError(.wrongContent, "\(text); what came is in \(part.path)"))
    }

    private func finish(_ part: PartFile, _ sha256: String?) async throws -> DownloadedFile {
      let final = finalName(part.record.name)
      let wasInMemory = part.isInMemory
      let modified = download.keepsServerTime ? part.record.modified : nil
      guard
        let file = try part.finish(
          as: final, by: job, modified: modified, sha256: sha256, replacing: download.overwrites)
      else {
        // What has the name came meanwhile, and may be the same. A small file is not worth a part beside it.
        if wasInMemory { part.discard() }
        guard let file = try await existing(final, part.folder, isFinalName: true) else {
          throw Self.fileExists(part.folder.path(of: final.description))
        }
        part.discard()
        return file
      }
      return file
    }
  }

  extension Sequence<UInt8> {
    var hexadecimal: String {
      map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
  }
#endif
