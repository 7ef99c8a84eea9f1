#if HTTP
  import Foundation

  /// From what is here of a file to the file under its final name.
  extension Transfer {
    /// `before` is what is in the file's place and may be replaced.
    func fetch(_ part: PartFile, _ before: FileStatus?) async throws -> DownloadedFile {
      let wasBegun = part.length > 0
      var mayPass = wasBegun
      var question = FileAnswer.Question(
        size: download.size, hasChecksum: download.sha256 != nil, acceptsUnknownLength: download.acceptsUnknownLength,
        decodes: part.record.isDecoded, isNameGiven: download.name != nil)
      let seemsWhole = wasBegun && part.length == part.record.version.total
      // Without the server, only a checksum can tell that.
      var isComplete = seemsWhole && download.sha256 != nil
      if seemsWhole, !isComplete { try part.dropLastByte() }
      var isPage = false
      var mayBeCut = false
      var asksForAll = false
      // For a file that already exists the last byte is requested first: the answer tells as much, and costs less.
      let there =
        before.flatMap { mayBeServers($0, isReplaced: download.overwrites) ? $0.size : nil } ?? 0
      // A server that contradicts itself, or sends nothing of what it promised, is asked three times.
      var fruitless = 0
      // Of two parts each is asked for once, and then one begins anew.
      var hasTurned = false
      // After a broken connection the download resumes at once, one time; then others go first.
      var mayReconnect = true
      while !isComplete {
        let onlyLooks = there > 1 && part.length == 0 && !asksForAll && !question.decodes
        question.offset = onlyLooks ? there - 1 : asksForAll || question.decodes ? 0 : part.resumable
        let proof = try question.offset > 0 && !onlyLooks ? part.proof(besides: request.url) : []
        question.offset -= Int64(proof.count)
        question.hasProof = !proof.isEmpty
        question.known = part.record.version
        // If a checksum decides at the end, the rest may come from any server.
        if download.sha256 != nil {
          question.known = FileVersion(
            total: question.known.total, isPage: question.known.isPage, coding: question.known.coding)
        }
        question.here = part.length
        question.hasPart = wasBegun || part.length > 0
        if question.hasPart, try part.beginsAsPage { question.known.isPage = true }
        question.name = finalName(part.record.name).description
        let reply = try await reception.ended(waiting: request.host) { [question] in
          try await request.reply(to: question, isSent: reception.isSent)
        }
        var (answer, body) = (reply.answer, AnswerBody(reply.body))
        try await reception.ended(waiting: request.host) { await answer.look(at: &body, question) }
        isPage = answer.isPage
        question.hasBecomeText = try part.hasBecome(
          text: answer.text(inPlaceOfRest: question), at: reception.clock.now)
        switch answer.verdict(on: question) {
        case .complete where !onlyLooks:
          isComplete = true
        case .askForLastByte where !onlyLooks:
          fruitless += 1
          guard fruitless < 3 else {
            throw Setback.forNow(DownloadError(.unusableAnswer, "the server refused the rest of the file"))
          }
          try part.dropLastByte()
        case .complete, .askForLastByte:
          asksForAll = true
        case .askForAll(let reason):
          fruitless += 1
          guard fruitless < 3 else { throw Setback.forNow(DownloadError(.unusableAnswer, reason)) }
          asksForAll = true
        case .askDecoded:
          question.decodes = true
        case .askAsSent(let reason):
          fruitless += 1
          guard fruitless < 3 else { throw Setback.forNow(DownloadError(.unusableAnswer, reason)) }
          question.decodes = false
          asksForAll = true
        case .failed(let error):
          throw Setback.final(error)
        case .failedForNow(let error, let retryAfter):
          throw Setback.busy(error, retryAfter, by: reply.origin)
        case .body(let from, let end, let version):
          // An answer with a part of a file does not repeat everything that came with the whole of it.
          let old = from > 0 && !onlyLooks ? part.record : nil
          let (serverName, modified) = (answer.fileName ?? old?.name, answer.lastModified ?? old?.modified)
          var told = ServerFile(answer.version(total: version.total), modified: modified)
          if let old { told.version.wasJustModified = old.version.wasJustModified }
          if let file = try await conflict(serverName, told, part) { return file }
          try await restrict(part, as: finalName(serverName))
          if onlyLooks, from > 0 {
            asksForAll = true
            continue
          }
          if from == 0 {
            asksForAll = false
            guard try part.begin(version, mayTurn: !hasTurned) else {
              hasTurned = true
              continue
            }
          } else if !proof.isEmpty {
            let isProven = try await reception.ended(waiting: request.host) {
              await body.look { $0.count < proof.count ? nil : $0.starts(with: proof) }
            }
            guard let isProven else { throw DownloadError.closedEarly(request.host) }
            guard isProven else {
              fruitless += 1
              asksForAll = true
              continue
            }
            body.drop(proof.count)
          }
          mayPass = answer.mayPass(question)
          mayBeCut = answer.end == .untold && version.total == nil && download.size == nil
          try part.learn(
            version, serverName: serverName, modified: modified, isDecoded: question.decodes,
            takesRanges: from > 0 ? true : answer.takesRanges)
          try checkRoom(part, until: version.total ?? download.size)
          let before = part.length
          if before > 0 { reception.goesOn(before) }
          do {
            try await reception.receive(
              &body, into: part, until: end ?? download.size.map { min($0, .max - 1) + 1 },
              of: version.total ?? download.size,
              request.host)
            fruitless = part.length > before ? 0 : fruitless + 1
            // A page that is shorter has another reason, and is told as one.
            guard part.length >= end ?? (isPage ? 0 : download.size ?? 0), fruitless < 3 else {
              throw DownloadError.closedEarly(request.host)
            }
          } catch let error as DownloadError where error.code == .connection && part.length > before {
            guard mayReconnect, part.resumable > 0, !question.decodes else { throw error }
            mayReconnect = false
            continue
          }
          isComplete = version.total.map { part.length >= $0 } ?? true
          // What its head did not tell of its length is judged by its end. A size that was given decides by itself.
          if from == 0, end == nil, download.size == nil {
            answer.length = part.length
            if case .failedForNow(let error, _) = answer.verdict(on: question) {
              part.takeBack()
              throw Setback.forNow(error)
            }
          }
        }
      }
      let sha256 = try check(part, mayPass: mayPass, isPage: isPage, mayBeCut: mayBeCut)
      return try await finish(part, before, sha256, mayBeCut: mayBeCut)
    }

    /// Whether the server's name for the file is taken: better to know before its bytes come. Returns the file there if
    /// it is the wanted one.
    private func conflict(_ serverName: String?, _ told: ServerFile, _ part: PartFile) async throws -> DownloadedFile? {
      let final = finalName(serverName)
      guard let file = try await existing(final, part.folder, isFinalName: true, told: told) else { return nil }
      part.discard()
      part.discardOther()
      return file
    }

    /// Who can't read what is replaced can't read what comes, from its first byte on.
    private func restrict(_ part: PartFile, as final: FileName) async throws {
      guard download.overwrites else { return }
      let there = part.folder.status(of: final.description)
      part.set(permissions(replacing: try await replaces(final, there, part.folder) ? there : nil))
    }

    private func finalName(_ serverName: String?) -> FileName {
      download.name == nil ? serverName.map { FileName(ofServer: $0) } ?? name : name
    }

    /// Returns the checksum, if one was requested.
    private func check(_ part: PartFile, mayPass: Bool, isPage: Bool, mayBeCut: Bool) throws -> String? {
      if let size = download.size, part.length != size {
        throw wrong("the file has \(part.length) bytes, not \(size)", part, mayPass: mayPass, isPage: isPage)
      }
      guard let wanted = download.sha256?.lowercased() else { return nil }
      let sum = try part.checksum()
      guard sum == wanted else {
        let text = "the file's SHA-256 is \(sum), not \(wanted)"
        guard mayBeCut, !isPage else { throw wrong(text, part, mayPass: mayPass, isPage: isPage) }
        throw DownloadError(
          .connection, "\(text); the server doesn't say where the file ends, so the connection may have been cut")
      }
      return sum
    }

    /// What came in pieces may have been assembled wrongly, and a page or a passing answer may go away: another attempt
    /// starts over. What came whole is what the server has, and is kept: the checksum may be wrong.
    private func wrong(_ text: String, _ part: PartFile, mayPass: Bool, isPage: Bool) -> Setback {
      if isPage || mayPass { part.discard() }
      if isPage { return .forNow(.page(with: " (\(text))")) }
      if mayPass { return .forNow(DownloadError(.wrongContent, text)) }
      return .final(DownloadError(.wrongContent, "\(text); what came is in \(part.path)"))
    }

    private func finish(
      _ part: PartFile, _ before: FileStatus?, _ sha256: String?, mayBeCut: Bool
    ) async throws -> DownloadedFile {
      let final = finalName(part.record.name)
      let wasInMemory = part.isInMemory
      let modified = download.keepsServerTime ? part.record.modified : nil
      // Who asked for this knew of neither: not of what came after that, nor of what changed since the first attempt began,
      // as while its process stood still and another one did its work.
      let there = part.folder.status(of: final.description)
      var replaces = try await replaces(final, there, part.folder)
      if replaces, let there {
        let isKnown = final == name ? before.map(there.isAs) ?? false : true
        let cameSince = try await cameSince(final, there, part.folder, part.record.version.users)
        replaces = isKnown && !cameSince
      }
      guard
        let file = try part.finish(
          as: final, by: job, of: FileOwner(download, as: part.record.version.users), modified: modified,
          sha256: sha256, replacing: replaces ? there : nil,
          permissions: permissions(replacing: replaces ? there : nil),
          // Nobody shall know one again that may have been cut.
          isVersion: !mayBeCut || sha256 != nil, remark: remark)
      else {
        // What has the name came meanwhile, and may be the same. A small file is not worth a part beside it.
        if wasInMemory { part.discard() }
        let told = ServerFile(part.record.version, modified: part.record.modified)
        var found = twin(final, part.folder, told)
        if found == nil { found = try await existing(final, part.folder, isFinalName: true, told: told) }
        guard let file = found else {
          throw fileExists(final, part.folder)
        }
        part.discard()
        part.discardOther()
        return file
      }
      return file
    }
  }

  extension DownloadError {
    fileprivate static func closedEarly(_ host: String) -> DownloadError {
      DownloadError(.connection, "\(host) closed the connection before the end of the file")
    }
  }
#endif
