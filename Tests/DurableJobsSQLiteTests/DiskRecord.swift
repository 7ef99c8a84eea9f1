import DurableJobs
import DurableJobsTesting
import Foundation
import GRDBSQLite

@testable import DurableJobsSQLite

/// What SQLite told the disk about a store's file and its log, in order, and what a power cut may leave of it: what was
/// flushed is there, and of each later write all, nothing or the beginning.
final class DiskRecord: Sendable {
  enum Event: Sendable {
    /// `name`: what follows the path of the store.
    case write(name: String, offset: Int, bytes: Data)
    case truncate(name: String, size: Int)
    case flush(name: String)
    /// The caller was told that the job is in this state.
    case acknowledged(JobID, JobState)
  }

  enum Remainder: CaseIterable { case nothing, everything, anything }

  private let path: String
  private let before = Lock<[String: Data]?>(nil)
  private let events = Lock<[Event]>([])
  /// How often the files were read, written, measured or locked.
  let calls = Lock(0)

  /// Of a store that is not open yet.
  init(of path: String) {
    self.path = path
    recording.records.withLock { $0[path] = self }
  }

  /// From here on, what happens is recorded. Nothing may be under way.
  func begin() throws {
    let files = try ["", "-wal"].map { ($0, try Data(contentsOf: URL(fileURLWithPath: path + $0))) }
    before.withLock { $0 = Dictionary(uniqueKeysWithValues: files) }
  }

  func end() { recording.records.withLock { $0[path] = nil } }

  func add(_ event: Event) {
    guard before.value != nil else { return }
    events.withLock { $0.append(event) }
  }

  /// What is in the files after a cut that follows so many events, and what was acknowledged by then.
  func image(after count: Int, _ remainder: Remainder, _ random: inout SeededNumbers) -> (
    files: [String: Data], acknowledged: [JobID: JobState]
  ) {
    var (flushed, waiting): ([String: Data], [String: [Event]]) = (before.value ?? [:], [:])
    var acknowledged: [JobID: JobState] = [:]
    for event in events.value.prefix(count) {
      switch event {
      case .write(let name, _, _), .truncate(let name, _): waiting[name, default: []].append(event)
      case .flush(let name): for event in waiting.removeValue(forKey: name) ?? [] { flushed[name]!.apply(event) }
      case .acknowledged(let id, let state): acknowledged[id] = state
      }
    }
    for (name, events) in waiting where remainder != .nothing {
      for event in events {
        guard remainder == .anything else {
          flushed[name]!.apply(event)
          continue
        }
        let part = Int.random(in: -8...16, using: &random) * 512
        if part > 0 { flushed[name]!.apply(event, upTo: part) }
      }
    }
    return (flushed, acknowledged)
  }

  var count: Int { events.withLock { $0.count } }
}

extension Data {
  fileprivate mutating func apply(_ event: DiskRecord.Event, upTo most: Int = .max) {
    switch event {
    case .write(_, let offset, let bytes):
      let bytes = bytes.prefix(most)
      if count < offset + bytes.count { append(Data(count: offset + bytes.count - count)) }
      replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .truncate(_, let size): if size < count { self = Data(prefix(size)) }
    default: break
    }
  }
}

private let recording = Recording()

/// SQLite's own access to files, with an ear at those of the stores that are recorded. It stays for the process; other
/// files are opened through it, and no more.
private final class Recording: @unchecked Sendable {
  // Checked by hand: what the pointers lead to is written here alone, and read by SQLite.
  let system: UnsafeMutablePointer<sqlite3_vfs>
  private let listening = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
  let records = Lock<[String: DiskRecord]>([:])
  private let files = Lock<[UnsafeMutablePointer<sqlite3_file>: File]>([:])

  private struct File {
    let record: DiskRecord
    let name: String
    /// The system's; those of the file itself are a copy, with the ear in it.
    let methods: UnsafePointer<sqlite3_io_methods>
  }

  init() {
    system = sqlite3_vfs_find(nil)
    listening.initialize(to: system.pointee)
    listening.pointee.zName = UnsafePointer(strdup("recording"))
    listening.pointee.pNext = nil
    listening.pointee.xOpen = { _, name, file, flags, outFlags in
      let code = recording.system.pointee.xOpen(recording.system, name, file, flags, outFlags)
      let isStore = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL) != 0
      if code == SQLITE_OK, isStore, let name, let file { recording.listen(to: file, String(cString: name)) }
      return code
    }
    sqlite3_vfs_register(listening, 1)
  }

  func listen(to file: UnsafeMutablePointer<sqlite3_file>, _ path: String) {
    let store = path.hasSuffix("-wal") ? String(path.dropLast(4)) : path
    guard let methods = file.pointee.pMethods, let record = records.withLock({ $0[store] }) else { return }
    let name = String(path.dropFirst(store.count))
    files.withLock { $0[file] = File(record: record, name: name, methods: methods) }
    let heard = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    heard.initialize(to: methods.pointee)
    heard.pointee.xWrite = { file, bytes, count, offset in
      let written = Data(bytes: bytes!, count: Int(count))
      return recording.call(file!, { $0.xWrite(file, bytes, count, offset) }) {
        .write(name: $0, offset: Int(offset), bytes: written)
      }
    }
    heard.pointee.xTruncate = { file, size in
      recording.call(file!, { $0.xTruncate(file, size) }) { .truncate(name: $0, size: Int(size)) }
    }
    heard.pointee.xSync = { file, flags in
      recording.call(file!, { $0.xSync(file, flags) }) { .flush(name: $0) }
    }
    heard.pointee.xRead = { file, bytes, count, offset in
      recording.call(file!, { $0.xRead(file, bytes, count, offset) })
    }
    heard.pointee.xFileSize = { file, size in recording.call(file!, { $0.xFileSize(file, size) }) }
    heard.pointee.xLock = { file, level in recording.call(file!, { $0.xLock(file, level) }) }
    heard.pointee.xShmLock = { file, offset, count, flags in
      recording.call(file!, { $0.xShmLock(file, offset, count, flags) })
    }
    heard.pointee.xClose = { file in
      let heard = file!.pointee.pMethods
      defer { UnsafeMutablePointer(mutating: heard!).deallocate() }
      return recording.files.withLock { $0.removeValue(forKey: file!) }!.methods.pointee.xClose(file)
    }
    file.pointee.pMethods = UnsafePointer(heard)
  }

  private func call(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ method: (sqlite3_io_methods) -> Int32,
    _ event: ((String) -> DiskRecord.Event)? = nil
  ) -> Int32 {
    let told = files.withLock { $0[file]! }
    told.record.calls.withLock { $0 += 1 }
    let code = method(told.methods.pointee)
    if code == SQLITE_OK, let event { told.record.add(event(told.name)) }
    return code
  }
}
