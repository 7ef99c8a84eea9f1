import DurableJobs
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A folder for jobs that can't be enqueued where they arise, such as in an app extension that may not open the store
/// or lacks the time. The extension writes a file for each job, and the app stores them.
///
///     let inbox = JobInbox(folder: group.appending(path: "jobs"))
///     try inbox.drop(Upload(file: file), on: "uploads")       // in the share extension
///     try await inbox.takeIn(to: store)                       // in the app, before its worker starts
public struct JobInbox: Sendable {
  public let folder: URL

  public init(folder: URL) { self.folder = folder }

  /// Writes a job to a file, atomically and durably when this returns. Relative times start now.
  ///
  /// Throws the errors of `JobQueue.enqueue` that need no store, and errors of the file system.
  public func drop<P: JobPayload>(
    _ job: P, on queue: String = "default", options: JobOptions = JobOptions()
  ) throws {
    // A queue needs a store, but this one is never used.
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

  /// Stores the dropped jobs in order and in one transaction, deletes their files, and returns how many there were.
  /// Each job is stored once even if the process dies halfway: it carries the tag `inbox:NAME` of its file, by which a
  /// leftover file is recognized. Call this before a worker starts, so that a tagged job can't have been deleted yet,
  /// and again when the app comes to the foreground.
  ///
  /// A file that can't be read as a job is kept as `NAME.unreadable`. Does nothing while another process does the same.
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

  /// The files, oldest first.
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

/// Held while jobs are taken in.
private final class FolderLock {
  private let descriptor: Int32

  /// Nil if another process holds it, or if the folder does not exist yet.
  init?(_ folder: URL) throws {
    descriptor = open(folder.appendingPathComponent(".lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0, errno == ENOENT { return nil }
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: folder.path]) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
