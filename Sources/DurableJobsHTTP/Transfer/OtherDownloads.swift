#if HTTP
  import DurableJobs
  import Foundation

  /// What other downloads of the store brought: one that was requested earlier neither replaces it nor takes it for its
  /// own file. Jobs can't be looked up by the name of what they brought, so they are read; but only for a file that, by
  /// its own time, was not there before the download was requested.
  ///
  /// For a payload that can't be read here, such as one encrypted by a `JobMiddleware`, the job's key tells whether it
  /// is the same download; whatever is unknown about it counts against taking its file.
  struct OtherDownloads: Sendable {
    let store: any JobStore
    /// As whom servers were asked for the file: ``FileVersion/users``.
    let users: String?

    /// Whether one that requests something else brought the file of that name after `job` was requested.
    func brought(
      _ name: FileName, _ file: FileStatus, in folder: Folder, since job: JobID, besides download: Download
    ) async throws -> Bool {
      guard let job = try await store.jobs(JobQuery(.id(job), limit: 1)).first else { return false }
      // By a clock that was set back nothing is told.
      let age = Duration.seconds(store.clock.now.timeIntervalSince(job.createdAt))
      guard age < .zero || file.mayBeYounger(than: age, now: Date()) else { return false }
      // First those that may have named it and not reported that yet: afterwards they are among the others.
      let running = JobQuery(.kind(Download.self) && .state(.running), detail: .payload, limit: 1000)
      for other in try await store.jobs(running) where other.id != job.id {
        guard let theirs = Download(of: other) else {
          // A file that has its name, and is not stored yet, usually has a second one.
          if other.key != download.identity, file.links > 1 { return true }
          continue
        }
        if !theirs.asks(as: download), theirs.folder == download.folder,
          PartFile.isNamed(name, file, in: folder, theirs, by: KnownJob(other.id, of: theirs))
        {
          return true
        }
      }
      return try await hasBrought(file, folder.path(of: name.description), since: job, besides: download)
    }

    /// Whether one that requests something else brought that very file, by its size and its time, whenever that was:
    /// among the last ten thousand.
    func broughtEver(_ name: FileName, _ file: FileStatus, in folder: Folder, besides download: Download) async throws
      -> Bool
    {
      let path = folder.path(of: name.description)
      var query = JobQuery(
        .kind(Download.self) && .state(.succeeded), detail: [.payload, .output], order: .newestFirst, limit: 500)
      for _ in 0..<20 {
        let page = try await store.jobs(query)
        let isFound = page.contains { job in
          brought(path, by: job, besides: download) { $0.size == file.size && $0.modified == file.modified }
        }
        if isFound { return true }
        guard page.count == query.limit else { return false }
        query.after = page.last?.id
      }
      return false
    }

    /// A thousand in a row that had all ended before are as good as none. One with a later number ended later, whatever the
    /// clock says.
    private func hasBrought(
      _ there: FileStatus, _ path: String, since job: JobSnapshot, besides download: Download
    ) async throws -> Bool {
      let isSetBack = job.createdAt > store.clock.now
      var query = JobQuery(.kind(Download.self) && .state(.succeeded), order: .newestFirst, limit: 1000)
      while true {
        let page = try await store.jobs(query)
        let ids = page.filter {
          $0.id != job.id && (isSetBack || $0.id > job.id || $0.finishedAt ?? .distantPast >= job.createdAt)
        }.map(\.id)
        if ids.isEmpty { return false }
        let late = try await store.jobs(JobQuery(.ids(ids), detail: [.payload, .output], limit: ids.count))
        let isFound = late.contains { job in
          brought(path, orOtherwise: there, by: job, besides: download)
        }
        if isFound { return true }
        guard page.count == query.limit else { return false }
        query.after = page.last?.id
      }
    }

    /// `there` is the file at `path`, which may have been brought under a name that the file system takes for the same.
    private func brought(
      _ path: String, orOtherwise there: FileStatus? = nil, by job: JobSnapshot, besides download: Download,
      as isIt: (DownloadedFile) -> Bool = { _ in true }
    ) -> Bool {
      guard let output = job.output, let file = try? JSONDecoder().decode(DownloadedFile.self, from: output),
        !file.wasThere, file.path == path || there.map({ Self.isSame($0, path, as: file.path) }) == true, isIt(file)
      else { return false }
      guard let theirs = Download(of: job) else { return job.key != download.identity }
      return !theirs.asks(as: download) || file.user != users
    }

    private static func isSame(_ there: FileStatus, _ path: String, as other: String) -> Bool {
      (path as NSString).deletingLastPathComponent == (other as NSString).deletingLastPathComponent
        && FileStatus(ofFileAt: other)?.inode == there.inode
    }
  }

  extension FileStatus {
    /// File systems have clocks of their own, and some have a resolution of a second.
    static let clockDifference = Duration.seconds(60)

    /// Whether it may have received its name or its bytes within that time.
    func mayBeYounger(than age: Duration, now: Date) -> Bool {
      let latest = Double(max(modified, changed)) / 1e9
      return now.timeIntervalSince1970 - latest <= (age + Self.clockDifference).seconds
    }
  }

  /// What is known of the file in a download's place, for later attempts: not its number, which some file systems give
  /// anew with each mount.
  struct StandingFile: Codable, Equatable, Sendable {
    /// Nil if there is none.
    var size: Int64?
    var modified: Int64?

    init(_ status: FileStatus?) {
      size = status?.size
      modified = status?.modified
    }
  }
#endif
