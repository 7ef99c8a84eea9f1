#if HTTP
  import Foundation

  /// What is already in the file's place, and whether it is the wanted file.
  extension Transfer {
    /// The file of that name, if it is the wanted one; `told` once its server was asked. If the name is final, this
    /// throws for another file, as soon as that can't be the wanted one.
    func existing(
      _ name: FileName, _ folder: Folder, isFinalName: Bool, told: ServerFile? = nil
    ) async throws -> DownloadedFile? {
      try checkStore(name, folder)
      guard let status = folder.status(of: name.description) else { return nil }
      let path = folder.path(of: name.description)
      guard !status.isFolder else {
        throw DownloadError(.fileExists, "\(path) is a folder; choose another name, or another folder")
      }
      var found = DownloadedFile(
        path: path, size: status.size, sha256: nil, modified: status.modified, wasThere: true)
      if status.isRegular, let wanted = download.sha256?.lowercased() {
        // A file that can't be read may still be replaced.
        do { found.sha256 = try checksum(of: name, status, folder) } catch  where !download.overwrites { throw error }
        if found.sha256 == wanted {
          _ = try await wasLeft(name, folder)
          // Also of jobs whose process died after their success was stored: nobody comes back for those.
          dropMarks(of: status, folder)
          return found
        }
      }
      let replaces = try await replaces(name, status, folder)
      let mayBe = mayBeServers(status, isReplaced: replaces) && folder.isBelieved(status)
      if mayBe, !replaces, let (file, job) = try await recorded(path),
        isAsBrought(file, name, status, folder),
        // Another download may have brought one like it since.
        try await !isOthers(file, name, status, folder)
      {
        // Left by a process that died between storing the success and this.
        folder.drop(self.name.mark(for: url, job))
        for name in [self.name, own] { PartFile.clearRecords(of: name, in: folder, download) }
        // Whether that file is skipped depends on its server's answer.
        (found.hasServerTime, found.tail) = (file.hasServerTime, file.tail)
        if !download.skipsExisting { return found }
      }
      if try await wasLeft(name, folder), mayBe, !replaces, !download.skipsExisting { return found }
      let owner = FileOwner(download, as: told?.version.users)
      let noted = folder.noted(name.description, status, for: owner)
      if mayBe, !replaces, let told, noted.isBrought(by: owner, status, told.version) {
        dropMarks(of: status, folder)
        return found
      }
      var isAnothers = false
      // By size and date alone the file may be another user's.
      let isTaken = told.flatMap { noted.isTaken(by: owner, $0.version) }
      if mayBe, let told, download.skipsExisting || owner.isAnybody || isTaken == true,
        told.isThere(size: status.size, modified: status.modified, skipsExisting: download.skipsExisting)
      {
        // It was not there when this download was requested.
        isAnothers = try await cameSince(name, status, folder, owner.users)
        if !isAnothers, !download.skipsExisting {
          isAnothers = if let isTaken { !isTaken } else { try await cameEver(name, status, folder, owner.users) }
        }
        if !isAnothers {
          if !download.skipsExisting { dropMarks(of: status, folder) }
          return found
        }
      }
      if isFinalName, replaces { try folder.checkReplacing(name.description) }
      guard isFinalName, !replaces, told != nil || !mayBe else { return nil }
      throw isAnothers ? cameFromElsewhere(name, folder) : fileExists(name, folder)
    }

    /// Whether it is as a download of this store left it. A copy of it may have lost its note.
    private func isAsBrought(
      _ file: DownloadedFile, _ name: FileName, _ there: FileStatus, _ folder: Folder
    ) -> Bool {
      guard file.size == there.size, file.modified == there.modified else { return false }
      switch folder.noted(name.description, there, for: FileOwner(download, as: file.user)) {
      case .isUnknown, .isOwn: return true
      case .isForeign: return file.tail == nil || file.tail == folder.tail(of: name.description, there)
      case .isOthers: return false
      }
    }

    /// Whether another download brought one of that size and time to the same place. It would have noted so: only where that
    /// can't be told are all looked through, and only for a time that two files may have.
    private func isOthers(
      _ file: DownloadedFile, _ name: FileName, _ there: FileStatus, _ folder: Folder
    ) async throws -> Bool {
      // A time in parts of a second is this machine's, of when its bytes came.
      guard file.hasServerTime == true || file.modified % 1_000_000_000 == 0 else { return false }
      let owner = FileOwner(download, as: file.user)
      let noted = folder.noted(name.description, there, for: owner)
      guard !noted.isNamed(name.description, for: owner) else { return false }
      return try await cameEver(name, there, folder, file.user)
    }

    /// The file of that name, if another store has brought that very version meanwhile.
    func twin(_ name: FileName, _ folder: Folder, _ told: ServerFile) -> DownloadedFile? {
      guard let status = folder.status(of: name.description), mayBeServers(status, isReplaced: false),
        folder.isBelieved(status)
      else { return nil }
      let owner = FileOwner(download, as: told.version.users)
      guard folder.noted(name.description, status, for: owner).isBrought(by: owner, status, told.version) else {
        return nil
      }
      return DownloadedFile(
        path: folder.path(of: name.description), size: status.size, sha256: nil, modified: status.modified,
        wasThere: true)
    }

    /// Reads a large file only once, however many answers it is compared with.
    private func checksum(of name: FileName, _ status: FileStatus, _ folder: Folder) throws -> String? {
      if let known = summed.withLock({ $0 }), known.file == status { return known.sum }
      let sum = try folder.checksum(of: name.description)
      if folder.status(of: name.description) == status { summed.withLock { $0 = (status, sum) } }
      return sum
    }

    private func cameFromElsewhere(_ name: FileName, _ folder: Folder) -> DownloadError {
      DownloadError(
        .fileExists,
        "\(folder.path(of: name.description)) was brought by a download of another URL, or is of another version; "
          + "get them into different folders, or name each with -O")
    }

    /// Whether an earlier job of this download named that file and never reported it: its process died, and it was
    /// ended from outside. What such jobs left is removed.
    private func wasLeft(_ name: FileName, _ folder: Folder) async throws -> Bool {
      var wasLeft = false
      for (job, isSame) in try await ended() {
        let mark = self.name.mark(for: url, job)
        if folder.status(of: mark) != nil {
          let isThis = try PartFile.marked(mark, as: name, in: folder, download, by: request.asker) != nil
          if isSame, isThis { wasLeft = true }
          // What has its server's name is asked for by that later.
          let mayBeLater = isSame && !isThis && name == self.name && download.name == nil
          if try !mayBeLater || PartFile.marked(mark, as: nil, in: folder, download, by: request.asker) == nil {
            folder.drop(mark)
          }
        }
        for part in [self.name, own] {
          guard
            let (file, _) = try PartFile.recorded(part, in: folder, download, by: job, asker: request.asker)
          else { continue }
          if isSame, file.path == folder.path(of: name.description) { wasLeft = true }
          PartFile.clearRecords(of: part, in: folder, download)
        }
      }
      return wasLeft
    }

    /// Takes away the second names that jobs of other stores have left to this file, and may never come back for: who does
    /// knows it by what its server tells, as was done here.
    private func dropMarks(of file: FileStatus, _ folder: Folder) {
      guard file.links > 1 else { return }
      for mark in secondNames.all(in: folder, by: reception.clock)
      where name.isMark(mark) && folder.status(of: mark)?.inode == file.inode {
        folder.drop(mark)
      }
    }

    /// Takes away what jobs of other stores left of this file when their processes were killed before it had its name: nobody
    /// goes on with that.
    func dropUnnamed(in folder: Folder) {
      for mark in secondNames.all(in: folder, by: reception.clock)
      where name.isMark(mark) && folder.status(of: mark)?.links == 1 && folder.isNotedAsSecond(mark) {
        // Who makes one has it locked. A part of that name has a record, on which its lock is.
        guard folder.status(of: mark + ".json") == nil else { continue }
        guard let file = try? folder.lock(mark) else { continue }
        withExtendedLifetime(file) { folder.remove(mark) }
      }
    }

    /// Whether, by what its server tells, an existing file can be the wanted one.
    func mayBeServers(_ file: FileStatus, isReplaced: Bool) -> Bool {
      file.isRegular && download.sha256 == nil && download.size ?? file.size == file.size
        && (download.skipsExisting || !isReplaced)
    }

    /// Whether `there`, the file of that name, is replaced, or any where there is none. Who requests that knows the name that is given, or that the URL has; a
    /// server's name for its file may be that of any file, and replaces only what the same download brought.
    func replaces(_ name: FileName, _ there: FileStatus?, _ folder: Folder) async throws -> Bool {
      guard download.overwrites, name != self.name else { return download.overwrites }
      guard let there else { return false }
      // A store forgets, and may not have heard of it.
      let owner = FileOwner(download, as: nil)
      if folder.noted(name.description, there, for: owner, by: request.asker).isNamed(name.description, for: owner) {
        return true
      }
      guard let (file, _) = try await recorded(folder.path(of: name.description)) else { return false }
      return !file.wasThere && isAsBrought(file, name, there, folder)
    }

    /// What stands beside the store under its name is the store's, and is read as such: a journal is rolled back.
    private func checkStore(_ name: FileName, _ folder: Folder) throws {
      guard let store else { return }
      let (path, own) = (
        (store as NSString).deletingLastPathComponent, (store as NSString).lastPathComponent.lowercased()
      )
      let file = name.description.lowercased()
      guard file == own || file.hasPrefix(own + "-") else { return }
      guard URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path == path else { return }
      throw DownloadError(
        .fileExists,
        "'\(name)' is a name of the store's own files in \(path); name the file with -O, or use another folder")
    }

    func fileExists(_ name: FileName, _ folder: Folder) -> DownloadError {
      let path = folder.path(of: name.description)
      guard name == self.name else {
        return DownloadError(
          .fileExists,
          "\(path) is there already, and the file has this name by its server alone; move it away, or name the file "
            + "with -O, and replace it with --overwrite")
      }
      guard !download.overwrites else {
        return DownloadError(
          .fileExists,
          "\(path) has changed, or was brought by another download, since this one was asked for, and is not replaced; "
            + "ask for it again")
      }
      let why =
        folder.status(of: name.description)?.isRegular == false
        ? ", and is no plain file"
        : download.sha256 != nil
          ? ", and has another checksum" : download.skipsExisting ? ", and is not as the server's file" : ""
      let skip = why.isEmpty ? ", take it for the one that is wanted with --skip-existing" : ""
      return DownloadError(
        .fileExists, "\(path) is there already\(why); move it away\(skip), or replace it with --overwrite")
    }
  }
#endif
