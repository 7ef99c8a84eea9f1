import DurableJobs
import DurableJobsSystem
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

  /// Writes a job for that queue to a file, atomically and durably when this returns. Relative times start now.
  ///
  /// The app's queue is not asked: what it would add by its defaults belongs into `options`, and its middleware, such as one
  /// that encrypts, does not see the job. Its payload is in the folder as JSON until it is taken in.
  ///
  /// Throws the errors of `JobQueue.enqueue` that need no store, and errors of the file system.
  public func drop<P: JobPayload>(
    _ job: P, on queue: String, options: JobOptions = JobOptions()
  ) throws {
    // A queue needs a store, but this one is never used.
    var new = try JobQueue(queue, store: InMemoryStore()).prepare(job, options: options)
    try new.check()
    let now = Date()
    new.terms.start = new.terms.start.date(at: now).map { .at($0) } ?? .now
    new.terms.deadline = new.terms.deadline?.dated(at: now)
    let isNew = !FileManager.default.fileExists(atPath: folder.path)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if isNew { try flush(folder.deletingLastPathComponent()) }
    let name = Self.nextName()
    let part = folder.appendingPathComponent(".\(name)")
    do {
      _ = FileManager.default.createFile(atPath: part.path, contents: nil, attributes: [.posixPermissions: 0o600])
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
  /// Of drops that replace each other by their unique key, only the last is stored. Each job is stored once even if the
  /// process dies halfway: it carries the tag `inbox:NAME` of its file, by which a leftover file is recognized. (One for
  /// which an unfinished job of its unique key stands is not stored, and so may be after such a death.) Call this before
  /// a worker starts, so that a tagged job can't have been deleted yet, and again when the app comes to the foreground.
  ///
  /// A file that is no job is kept as `NAME.unreadable`, one whose job the store refuses as `NAME.refused`. If a file
  /// can't be read, as while a device is locked, it stays for the next call, and its error is thrown once all others are
  /// stored. Does nothing while another process does the same.
  @discardableResult
  public func takeIn(to store: any JobStore) async throws -> Int {
    guard let lock = try FolderLock(folder) else { return 0 }
    defer { withExtendedLifetime(lock) {} }
    removeRemains()
    var (drops, gone): ([Drop], [Drop]) = ([], [])
    var failure: (any Error)?
    for file in try dropped() {
      let data: Data
      do { data = try Data(contentsOf: file) } catch {
        failure = failure ?? error
        continue
      }
      guard var job = try? JSONDecoder().decode(NewJob.self, from: data), (try? job.check()) != nil else {
        try setAside(file, as: "unreadable")
        continue
      }
      let tag = "inbox:\(file.deletingPathExtension().lastPathComponent)"
      job.terms.tags.insert(tag)
      var drop = Drop(file: file, job: job)
      if let unique = job.terms.unique, unique.policy == .replace {
        let isReplaced = { (drop: Drop) in drop.job.terms.unique?.key == unique.key }
        drop.replaced = drops.filter(isReplaced)
        drops.removeAll(where: isReplaced)
      }
      if try await store.jobs(JobQuery(.tag(tag), limit: 1)).isEmpty { drops.append(drop) } else { gone.append(drop) }
    }
    for drop in gone { try drop.remove() }
    let stored = try await insert(drops, into: store)
    for drop in stored { try drop.remove() }
    if let failure { throw failure }
    return stored.count
  }

  private static let lastNumber = Lock<Int64>(0)

  /// Names are in the order of drops, as the times of files need not be: those of a process by its count, and of several by
  /// the clock, in nanoseconds since 1970.
  private static func nextName() -> String {
    let number = lastNumber.withLock { last in
      last = max(last + 1, Int64(Date().timeIntervalSince1970 * 1e9))
      return last
    }
    return "\(number)-\(UUID().uuidString)"
  }

  private struct Drop {
    let file: URL
    let job: NewJob
    /// What is not stored because of it, unless the store refuses it.
    var replaced: [Drop] = []

    /// Those that it replaced go first: left behind, one would be newer than what replaced it.
    func remove() throws {
      for drop in replaced { try drop.remove() }
      try FileManager.default.removeItem(at: file)
    }
  }

  /// Stores the jobs, and returns those that were not refused. What a refused one was to replace takes its place.
  private func insert(_ drops: [Drop], into store: any JobStore) async throws -> [Drop] {
    guard !drops.isEmpty else { return [] }
    do {
      _ = try await store.insert(JobInsertion(drops.map(\.job)))
      return drops
    } catch let error as JobError where Self.refusals.contains(error.code) {
      guard drops.count == 1 else {
        var stored: [Drop] = []
        for drop in drops { stored += try await insert([drop], into: store) }
        return stored
      }
      try setAside(drops[0].file, as: "refused")
      return try await insert(drops[0].replaced, into: store)
    }
  }

  private static let refusals: [JobError.Code] = [.invalidArgument, .notEncodable, .notFound, .wrongState]

  private func setAside(_ file: URL, as ending: String) throws {
    try FileManager.default.moveItem(at: file, to: file.deletingPathExtension().appendingPathExtension(ending))
  }

  /// Deletes what is left of drops whose process ended before they were whole, a day later.
  private func removeRemains() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
      guard name.hasPrefix("."), UUID(uuidString: String(name.suffix(36))) != nil else { continue }
      let path = folder.appendingPathComponent(name).path
      let date = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      if let date, date < Date(timeIntervalSinceNow: -86400) { try? FileManager.default.removeItem(atPath: path) }
    }
  }

  /// The files, oldest first.
  private func dropped() throws -> [URL] {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: [.contentModificationDateKey]
    ).filter { $0.pathExtension == "job" }
    let numbered = try files.map { file -> (Int64, URL) in
      if let number = Int64(file.lastPathComponent.prefix { $0 != "-" }) { return (number, file) }
      // Of a version whose names had no number.
      let date = try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
      return (Int64((date?.timeIntervalSince1970 ?? 0) * 1e9), file)
    }
    return numbered.sorted { ($0.0, $0.1.path) < ($1.0, $1.1.path) }.map(\.1)
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
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
    guard errno == EWOULDBLOCK else {
      throw CocoaError(.fileLocking, userInfo: [NSFilePathErrorKey: folder.path])
    }
    return nil
  }

  // A process that is just being started has a copy of the lock, which closing leaves to it.
  deinit {
    guard descriptor >= 0 else { return }
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
