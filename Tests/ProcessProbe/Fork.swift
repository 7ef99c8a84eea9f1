import DurableJobs
import DurableJobsSQLite
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A child of this process that goes on without executing a program: Swift itself has no `fork`.
func forked(_ child: () -> Void) -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  #if canImport(Darwin)
    let anywhere = UnsafeMutableRawPointer(bitPattern: -2)
  #else
    let anywhere: UnsafeMutableRawPointer? = nil
  #endif
  let fork = unsafeBitCast(dlsym(anywhere, "fork"), to: Fork.self)
  let pid = fork()
  if pid == 0 {
    child()
    exit(0)
  }
  return pid
}

/// Opens a store, is known to others, and forks a child that wants to go on with it. Says what the child gets, how it ends,
/// and whether the parent's own store is as it was: `child CODE`, `ended STATUS`, `session ISALIVE`, `stored COUNT`.
func forkWithStore(databasePath: String) async throws {
  var store: SQLiteStore? = try SQLiteStore(path: databasePath)
  let job = JobInsertion([NewJob(queue: "default", kind: "work", payload: Data())])
  _ = try await store?.insert(job)
  let subscription = store?.signals.listen { _ in }  // from then on it is known
  let folder = try MeetingFolder(databasePath: databasePath)
  let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
  let session = files.first { $0.hasSuffix(".lock") }.map { String($0.dropLast(5)) }
  let child = forked {
    say("child", code { _ = try SQLiteStore(path: databasePath) })
    if let store { say("child", codeAtOnce { _ = try await store.counts(where: .all) }) }
    store = nil
  }
  var status: Int32 = 0
  while waitpid(child, &status, 0) != child, errno == EINTR {}
  say("ended", status)
  if let session, case .alive = folder.standing(of: session) { say("session", true) } else { say("session", false) }
  _ = try await store?.insert(job)
  say("stored", try await store?.counts(where: .all).total ?? 0)
  await store?.close()
  withExtendedLifetime(subscription) {}
}

private func code(_ body: () throws -> Void) -> String {
  do {
    try body()
    return "none"
  } catch {
    return "\((error as? JobError)?.code ?? .storeFailed)"
  }
}

/// Here and now, up to where it would wait: a forked child has no other threads.
private func codeAtOnce(_ body: @escaping @Sendable () async throws -> Void) -> String {
  #if canImport(Darwin)
    return "unknown"  // no such call before macOS 26
  #else
    let ended = Lock("waits")
    Task.immediate {
      do {
        try await body()
        ended.withLock { $0 = "none" }
      } catch {
        ended.withLock { $0 = "\((error as? JobError)?.code ?? .storeFailed)" }
      }
    }
    return ended.withLock { $0 }
  #endif
}
