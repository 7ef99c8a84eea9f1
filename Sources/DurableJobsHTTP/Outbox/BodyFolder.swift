#if HTTP
  import DurableJobs
  import Foundation

  /// Copies of files that are sent as bodies, beside the file of their store; for a store that is in no file, among the
  /// temporary files of this process.
  package struct BodyFolder: Sendable {
    let path: String
    /// Else it goes with the process, and other stores without a file have the same.
    let isBesideStore: Bool
    /// Whether a copy is there for as long as the store's jobs are.
    let keepsCopies: Bool
    /// The store is on a server, and this folder on one of the machines that use it, or of a program that named none.
    private let isOfOneMachine: Bool
    private let clock: any JobClock

    package init(of store: any JobStore) {
      isBesideStore = store.path != nil
      keepsCopies = isBesideStore || (store as? InMemoryStore).map { !$0.isKept } ?? false
      isOfOneMachine = store.path.map { !FileManager.default.fileExists(atPath: $0) } ?? !(store is InMemoryStore)
      path = store.path.map { $0 + "-outbox" } ?? Self.temporary
      clock = store.clock
    }

    private static let temporary: String = {
      atexit { try? FileManager.default.removeItem(atPath: BodyFolder.temporary) }
      return "\(FileManager.default.temporaryDirectory.path)/durable-outbox-\(getpid())-\(UUID().uuidString)"
    }()

    func path(of name: String) -> String { path + "/" + name }

    /// Whether it is there now. One that was made is flushed with its name: jobs will rely on what is in it.
    func make() -> Bool {
      guard mkdir(path, 0o700) == 0 else { return errno == EEXIST }
      Descriptor.flush(folder: (path as NSString).deletingLastPathComponent)
      return true
    }

    /// Throws unless the copy may become that long, and leaves the store beside it the room that it may need.
    private static func checkRoom(
      for length: Int64, after written: Int64 = 0, _ copy: Descriptor, _ what: String
    ) throws {
      guard length <= SendRequest.Body.mostBytesOfCopy else {
        throw RequestError(
          .unusableBody,
          "\(what) has more than 5 GB, which is the most that is copied beside a store; send less, or in parts")
      }
      guard let room = copy.room, room.free - (length - written) < room.reserve else { return }
      var error = RequestError(
        .unusableBody,
        "there is no room but for what the store may need: \(room.free) bytes are free, of which \(room.reserve) are left "
          + "to it. Free some space, or send less")
      error.isOfFullDisk = true
      throw error
    }

    /// The copies that this process is making.
    private static let drafts = Lock<Set<String>>([])

    /// Deletes the copies that this process is making, as it is about to end.
    package static func removeDrafts() {
      for path in drafts.withLock({ $0 }) { unlink(path) }
    }

    /// Whether another machine may have that copy, and this one has not.
    func isElsewhere(_ name: String) -> Bool {
      isOfOneMachine && access(path(of: name), F_OK) != 0 && errno == ENOENT
    }

    package func remove(_ name: String) { unlink(path(of: name)) }

    /// Nil if there are more.
    package func bytes(of name: String, atMost limit: Int) -> Data? {
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: path(of: name)), options: .mappedIfSafe) else {
        return nil
      }
      return data.count <= limit ? data : nil
    }

    /// Copies `beginning` and all that follows in `source`, and flushes it. Returns the copy's name. `what` is for errors,
    /// which are ``RequestError``. The copy is locked while it is made, for what comes through a pipe may be long in coming,
    /// and gets its name at the end, with the time since the machine began: the calendar's may be set.
    func copy(_ source: Descriptor, _ what: String, after beginning: Data, _ steady: SteadyFile) throws -> String {
      guard make() else {
        throw RequestError(.disk("make the folder", path))
      }
      let draft = UUID().uuidString
      let target = path(of: draft)
      Self.drafts.withLock { _ = $0.insert(target) }
      defer { Self.drafts.withLock { _ = $0.remove(target) } }
      let copy = Descriptor(open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
      guard copy.number >= 0 else { throw RequestError(.disk("write to", target)) }
      _ = copy.locked { flock($0, LOCK_EX) }
      do {
        var piece = beginning
        var length: Int64 = 0
        try Self.checkRoom(for: steady.status.isRegular ? steady.status.size : 0, copy, what)
        while !piece.isEmpty {
          try Self.checkRoom(for: length + Int64(piece.count), after: length, copy, what)
          length = try piece.withUnsafeBytes { try copy.write($0, at: length, target) }
          piece = try source.next(1 << 18, what)
        }
        try steady.check(what)
        try copy.flush(target)
        // As old as it is now, however long ago the first byte came.
        let name = "\(draft).\(clock.uptime.components.seconds)"
        guard rename(target, path(of: name)) == 0 else {
          throw RequestError(.unusableBody, "\(target) was deleted while it was made")
        }
        // With its name, which the job that is stored next relies on.
        let folder = Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard folder.number >= 0 else { throw RequestError(.disk("open the folder", path)) }
        try folder.flush(path)
        return name
      } catch {
        unlink(target)
        throw (error as? DownloadError).map { RequestError($0) } ?? error
      }
    }

    /// Deletes copies that no job of the store will send any more, that are old enough to have been stored at `uptime`, and
    /// that nobody is making; and what is noted of jobs that have succeeded, or are gone.
    func sweep(_ store: any JobStore, at uptime: Duration) async throws {
      // Stores that are in no file share a folder, which goes with the process.
      guard isBesideStore else { return }
      var names = Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
      let records = names.filter { SendRecord.job($0) != nil }
      names.subtract(records)
      let left = try await unneeded(names.filter { isLeft($0, at: uptime) }, in: store)
      // Again, as the maker of one may not have had its lock before.
      for name in left where isLeft(name, at: uptime) { remove(name) }
      for page in records.map({ (name: $0, job: SendRecord.job($0)!) }).pages(of: 400) {
        let query = JobQuery(.ids(page.map { $0.job }) && !.state(.succeeded), limit: page.count)
        let needed = Set(try await store.jobs(query).map(\.id))
        for (name, job) in page where !needed.contains(job) { remove(name) }
      }
    }

    /// The copies that these jobs send.
    package func copies(of jobs: [JobID], in store: any JobStore) async throws -> Set<String> {
      guard isBesideStore else { return [] }
      let query = JobQuery(.ids(jobs) && .kind(SendRequest.self), detail: .payload, limit: max(jobs.count, 1))
      let payloads = try await store.jobs(query).compactMap(\.payload)
      return Set(payloads.compactMap { try? JSONDecoder().decode(SendRequest.self, from: $0).body.copy })
    }

    /// Those that a schedule names: each of its ticks sends them, also once one that has failed is retried.
    func scheduled(_ names: Set<String>, in store: any JobStore) async throws -> Set<String> {
      let schedules = try await store.jobs(
        JobQuery(.kind("durable.schedule") && (.unfinished || .state(.failed)), detail: .payload, limit: .max))
      let payloads = schedules.compactMap(\.payload)
      // One that can't be read may name any of them.
      guard payloads.allSatisfy(Template.isReadable) else { return names }
      let texts = payloads.map { String(decoding: $0, as: UTF8.self) }
      return names.filter { name in texts.contains { $0.contains(name) } }
    }

    /// What each tick of a schedule stores.
    private struct Template: Decodable {
      struct Job: Decodable {
        let kind: String
        let payload: String?
      }
      let job: Job

      static func isReadable(_ schedule: Data) -> Bool {
        guard let job = try? JSONDecoder().decode(Template.self, from: schedule).job else { return false }
        guard job.kind == SendRequest.kind else { return true }
        return (try? JSONDecoder().decode(SendRequest.self, from: Data((job.payload ?? "").utf8))) != nil
      }
    }

    /// Deletes copies of jobs that are gone, unless another needs them.
    package func removeCopies(_ names: Set<String>, goneFrom store: any JobStore) async throws {
      for name in try await unneeded(names, in: store) { remove(name) }
    }

    /// Those that no job of the store will send any more.
    private func unneeded(_ names: Set<String>, in store: any JobStore) async throws -> Set<String> {
      var left = names
      // What is to follow a batch is a job only once that is done, and may have any of them.
      guard !left.isEmpty, try await store.batches(.newest(Int(Int32.max))).allSatisfy(\.isDone) else { return [] }
      var after: JobID?
      while !left.isEmpty {
        let page = try await store.jobs(
          JobQuery(.kind(SendRequest.self) && !.state(.succeeded), detail: .payload, after: after, limit: 50))
        for case let payload? in page.map(\.payload) {
          // What can't be read may name any of them.
          guard let request = try? JSONDecoder().decode(SendRequest.self, from: payload) else { return [] }
          if let name = request.body.copy { left.remove(name) }
        }
        guard page.count == 50 else { break }
        after = page.last?.id
      }
      return left.isEmpty ? left : left.subtracting(try await scheduled(left, in: store))
    }
  }

  extension BodyFolder {
    private static let patience = Duration.seconds(4 * 3600)

    /// What was made before the machine began anew is at least as old as that: it may be told a shorter age here, but no
    /// longer one.
    private func isLeft(_ name: String, at uptime: Duration) -> Bool {
      guard let made = name.wholeMatch(of: /.+\.(\d+)/).flatMap({ Int64($0.1) }).map({ Duration.seconds($0) }) else {
        return isDraftLeft(name)
      }
      return (made > uptime ? uptime : uptime - made) >= Self.patience
    }

    /// Its maker has gone.
    private func isDraftLeft(_ name: String) -> Bool {
      let file = Descriptor(open(path(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
      return file.locked { flock($0, LOCK_SH | LOCK_NB) } == 0
    }
  }

  extension SteadyFile {
    /// Throws ``RequestError`` if what was copied may be of two versions.
    func check(_ what: String) throws {
      guard !isSteady else { return }
      throw RequestError(.unusableBody, "\(what) was changed while it was copied; send it again")
    }
  }

  extension Descriptor {
    /// Throws ``RequestError``. Who is to write to a pipe of that name is waited for.
    convenience init(reading path: String) throws {
      self.init(open(path, O_RDONLY | O_CLOEXEC))
      guard number >= 0 else { throw RequestError(.disk("read", path)) }
      var status = stat()
      guard fstat(number, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
        throw RequestError(.unusableBody, "can't read \(path): it is a folder")
      }
    }

    /// What comes next of a file or a pipe: less than `count` bytes only at its end.
    func next(_ count: Int, _ path: String) throws -> Data {
      var data = Data(count: count)
      var length = 0
      while length < count {
        let read = data.withUnsafeMutableBytes { Foundation.read(number, $0.baseAddress! + length, count - length) }
        if read < 0, errno == EINTR { continue }
        guard read >= 0 else { throw RequestError(.disk("read", path)) }
        if read == 0 { break }
        length += read
      }
      return data.prefix(length)
    }
  }
#endif
