#if HTTP
  import DurableJobs
  import Foundation

  /// Copies of files that are sent as bodies, beside the file of their store; for a store that is in no file, among the
  /// temporary files of this process.
  package struct BodyFolder: Sendable {
    let path: String

    package init(of store: any JobStore) {
      path = store.path.map { $0 + "-outbox" } ?? Self.temporary
    }

    private static let temporary: String = {
      atexit { try? FileManager.default.removeItem(atPath: BodyFolder.temporary) }
      return "\(FileManager.default.temporaryDirectory.path)/durable-outbox-\(getpid())-\(UUID().uuidString)"
    }()

    func path(of name: String) -> String { path + "/" + name }

    package func remove(_ name: String) { unlink(path(of: name)) }

    /// Nil if there are more.
    package func bytes(of name: String, atMost limit: Int) -> Data? {
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: path(of: name)), options: .mappedIfSafe) else {
        return nil
      }
      return data.count <= limit ? data : nil
    }

    /// Copies `beginning` and all that follows in `source`, and flushes it. Returns the copy's name. `what` is for errors,
    /// which are ``RequestError``. The copy is locked while it is made, for what comes through a pipe may be long in coming.
    func copy(_ source: Descriptor, _ what: String, after beginning: Data) throws -> String {
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw RequestError(.disk("make the folder", path))
      }
      let name = UUID().uuidString
      let target = path(of: name)
      let copy = Descriptor(open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
      guard copy.number >= 0 else { throw RequestError(.disk("write to", target)) }
      flock(copy.number, LOCK_EX)
      do {
        var piece = beginning
        var length: Int64 = 0
        while !piece.isEmpty {
          length = try piece.withUnsafeBytes { try copy.write($0, at: length, target) }
          piece = try source.next(1 << 18, what)
        }
        // As old as it is now, however long ago the last byte came.
        futimens(copy.number, nil)
        try copy.flush(target)
        // With its name, which the job that is stored next relies on.
        let folder = Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        if folder.number >= 0 { try folder.flush(path) }
        var status = stat()
        guard fstat(copy.number, &status) == 0, status.st_nlink > 0 else {
          throw RequestError(.unusableBody, "\(target) was deleted while it was made")
        }
        return name
      } catch {
        unlink(target)
        throw (error as? DownloadError).map { RequestError($0) } ?? error
      }
    }

    /// Deletes copies that no job of the store will send any more, that are old enough to have been stored, and that nobody
    /// is making.
    func sweep(_ store: any JobStore) async throws {
      // Stores that are in no file share a folder, which goes with the process.
      guard store.path != nil else { return }
      let oldest = Date(timeIntervalSinceNow: -4 * 3600)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      var left = Set(names.filter { isLeft($0, before: oldest) })
      var after: JobID?
      while !left.isEmpty {
        let page = try await store.jobs(
          JobQuery(.kind(SendRequest.self) && !.state(.succeeded), detail: .payload, after: after, limit: 50))
        for case let payload? in page.map(\.payload) {
          // What can't be read may name any of them.
          guard let request = try? JSONDecoder().decode(SendRequest.self, from: payload) else { return }
          if let name = request.body.copy { left.remove(name) }
        }
        guard page.count == 50 else { break }
        after = page.last?.id
      }
      for name in left { remove(name) }
    }
  }

  extension BodyFolder {
    private func isLeft(_ name: String, before date: Date) -> Bool {
      let file = Descriptor(open(path(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
      // Who makes it sets its time before he lets it go.
      guard flock(file.number, LOCK_SH | LOCK_NB) == 0, let status = try? FileStatus(of: file, name) else {
        return false
      }
      return Double(status.modified) / 1e9 < date.timeIntervalSince1970
    }
  }

  extension Descriptor {
    /// Throws ``RequestError/Code/unusableBody``.
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
