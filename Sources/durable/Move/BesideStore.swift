#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation

  /// What stands beside a store and is of its jobs: the logs of commands, and the bodies of requests that are in files.
  enum BesideStore {
    private static let kinds = ["-jobs", "-outbox"]

    /// The folders that there are of the store at `path`.
    static func folders(of path: String) -> [String] {
      kinds.map { path + $0 }.filter { FileManager.default.fileExists(atPath: $0) }
    }

    /// Throws if a process works on the file at `path` or listens to it, though it was stopped and its lease has lapsed: it
    /// may go on with its jobs at any time. `undone` is what is not done then.
    static func checkThatNobodyIsAt(_ path: String, _ undone: String) throws {
      let locks = (try? MeetingFolder(of: path))?.heldLocks ?? []
      guard !locks.isEmpty else { return }
      let numbers = Set(
        locks.flatMap { lock in
          var file = stat()
          return stat(lock, &file) == 0 ? ProcessEntry.holders(of: file) : []
        }
      ).sorted().map { "\($0)" }.joined(separator: ", ")
      throw JobError(
        .alreadyRunning,
        "\(numbers.isEmpty ? "a process" : "process \(numbers)") works on \(path), or watches it: end it first. "
          + undone)
    }

    /// Ends the commands that have outlived their workers, as the next worker would: by a copy of its lock nobody finds
    /// what lives. Nobody may work on the file at `path`.
    static func endCommands(beside path: String, _ undone: String) async throws {
      let left = await withTaskGroup(of: String?.self) { group in
        for id in CommandRemains.living(beside: path) {
          group.addTask {
            let lock = JobFolder(store: path, id: id).lock
            // Its supervisor is at it.
            if await lock.waitUntilFree(for: ObstacleReport.lastWords) { return nil }
            Talk.line("Job \(id): its command lives, and no worker ends it; it is ended here")
            return await lock.endHolder() ? nil : "job \(id): \(lock.livingWords(of: "its command"))"
          }
        }
        return await group.reduce(into: [String]()) { left, words in if let words { left.append(words) } }
      }
      if let words = left.min() { throw JobError(.alreadyRunning, "\(words). \(undone)") }
    }

    /// Notes where all that is in the file at `path` has gone. What is deleted and made anew is another file.
    static func note(move path: String, to name: String) {
      guard let number = FileManager.default.number(of: path) else { return }
      try? Data("\(number) \(name)".utf8).write(to: URL(fileURLWithPath: path + "-moved"), options: .atomic)
    }

    /// Where all that was in the file at `path` has gone; nil if it was not moved.
    static func placeAfterMove(of path: String) -> String? {
      guard let note = FileManager.default.contents(atPath: path + "-moved"),
        let number = FileManager.default.number(of: path)
      else { return nil }
      let words = String(decoding: note, as: UTF8.self).split(separator: " ", maxSplits: 1)
      return words.first == "\(number)" ? words.last.map { String($0) } : nil
    }

    /// Copies them for the store at `target`. What was there already goes.
    static func copy(from path: String, to target: String) throws {
      for kind in kinds {
        let (folder, copy) = (path + kind, target + kind)
        let files = FileManager.default
        guard files.fileExists(atPath: folder) else { continue }
        do {
          if files.fileExists(atPath: copy) { try files.removeItem(atPath: copy) }
          try files.copyItem(atPath: folder, toPath: copy)
        } catch {
          throw JobError(.unusableFile, "\(folder) can't be copied to \(copy): \(error.briefly)", cause: error)
        }
      }
    }
  }

  extension FileManager {
    /// What tells a file from others that have its path later.
    fileprivate func number(of path: String) -> UInt64? {
      var status = stat()
      return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }
  }
#endif
