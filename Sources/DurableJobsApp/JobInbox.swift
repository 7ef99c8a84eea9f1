import DurableJobs
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A folder through which jobs come that can't be stored where they arise: from an app extension that may not open the
/// store, or has no time to. The extension drops a file for each, and the app takes them in.
///
///     let inbox = JobInbox(folder: group.appending(path: "jobs"))
///     try inbox.drop(Upload(file: file), on: "uploads")       // in the share extension
///     try await inbox.takeIn(to: store)                       // in the app, before its worker starts
public struct JobInbox: Sendable {
  public let folder: URL

  public init(folder: URL) { self.folder = folder }

  /// Writes a job as a file. It is durable when this returns, and there as a whole or not at all. Times that are relative
  /// count from now.
  ///
  /// Throws what `JobQueue.enqueue` throws for what can be known without a store, and what the file system throws.
  public func drop<P: JobPayload>(
    _ job: P, on queue: String = "default", options: JobOptions = JobOptions()
  ) throws {
    // A queue needs a store to be one; nothing is asked of it.
    var new = try JobQueue(queue, store: InMemoryStore()).prepare(job, options: options)
    try new.check()
    let now = Date()
    new.terms.start = new.terms.start.date(at: now).map { .at($0) } ?? .now
    new.terms.deadline = new.terms.deadline?.dated(at: now)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let name = UUID().uuidString
    let part = folder.appendingPathComponent(".\(name)")
    do {
      try JSONEncoder().encode(new).write(to: part)
      try flush(part)
      try FileManager.default.moveItem(at: part, to: folder.appendingPathComponent("\(name).job"))
      try flush(folder)
    } catch {
      try? FileManager.default.removeItem(at: part)
      throw error
    }
  }

  /// Stores the jobs that were dropped, in the order of their dropping and in one transaction, and deletes their files.
  /// Returns how many there were. Each is stored once, also if the process dies on the way: a job bears the tag
  /// `inbox:NAME` of its file, by which a file that was left behind is known. Call it before a worker starts, so that what
  /// is known so can't have been deleted yet; and again when the app comes to the foreground.
  ///
  /// A file that can't be read as a job stays, as `NAME.unreadable`. Does nothing while another process takes them in.
  @discardableResult
  public func takeIn(to store: any JobStore) async throws -> Int {
    guard let lock = try FolderLock(folder) else { return 0 }
    defer { withExtendedLifetime(lock) {} }
    var (files, jobs): ([URL], [NewJob]) = ([], [])
    for file in try dropped() {
      guard let job = try? JSONDecoder().decode(NewJob.self, from: Data(contentsOf: file)), (try? job.check()) != nil
      else {
        try FileManager.default.moveItem(
          at: file, to: file.deletingPathExtension().appendingPathExtension("unreadable"))
        continue
      }
      files.append(file)
      let tag = "inbox:\(file.deletingPathExtension().lastPathComponent)"
      guard try await store.jobs(JobQuery(.tag(tag), limit: 1)).isEmpty else { continue }
      jobs.append(job)
      jobs[jobs.count - 1].terms.tags.insert(tag)
    }
    if !jobs.isEmpty { _ = try await store.insert(JobInsertion(jobs)) }
    for file in files { try FileManager.default.removeItem(at: file) }
    return jobs.count
  }

  /// The oldest first.
  private func dropped() throws -> [URL] {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: [.contentModificationDateKey]
    ).filter { $0.pathExtension == "job" }
    let dated = try files.map {
      ($0, try $0.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate)
    }
    return dated.sorted { ($0.1 ?? .distantPast, $0.0.path) < ($1.1 ?? .distantPast, $1.0.path) }.map(\.0)
  }

  private func flush(_ file: URL) throws {
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: file.path]) }
    defer { close(descriptor) }
    guard flushToDisk(descriptor) == 0 else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
    }
  }
}

/// Held by who takes jobs in.
private final class FolderLock {
  private let descriptor: Int32

  /// Nil if another has it, or if there is no such folder yet.
  init?(_ folder: URL) throws {
    descriptor = open(folder.appendingPathComponent(".lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0, errno == ENOENT { return nil }
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: folder.path]) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
