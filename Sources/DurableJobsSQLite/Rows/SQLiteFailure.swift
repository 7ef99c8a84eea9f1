import DurableJobs
import GRDB
import GRDBSQLite

/// An error from SQLite, before it is turned into a message for a person.
struct SQLiteFailure: Error {
  /// The extended result code, such as `SQLITE_IOERR_FSYNC`.
  let code: Int32
  let message: String

  init(code: Int32, on connection: OpaquePointer?) {
    self.code = connection.map { sqlite3_extended_errcode($0) } ?? code
    message = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
  }

  init(_ error: DatabaseError) {
    code = error.extendedResultCode.rawValue
    message = error.message ?? "\(error.extendedResultCode)"
  }

  /// Whether the error is about a row rather than the store.
  var concernsRow: Bool { [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].contains(code & 0xff) }

  /// The message for an error of the disk or the system.
  fileprivate func disk(_ path: String) -> String {
    switch ResultCode(rawValue: code) {
    case .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_FSTAT, .SQLITE_IOERR_ACCESS:
      "the store \(path) can't be read: its disk refused. Check that the disk is there and whole, and try again"
    case .SQLITE_IOERR_LOCK, .SQLITE_IOERR_RDLOCK, .SQLITE_IOERR_UNLOCK, .SQLITE_IOERR_CHECKRESERVEDLOCK,
      .SQLITE_IOERR_SHMLOCK:
      "the store \(path) can't be locked: its file system refused. Keep the store on a local disk"
    case .SQLITE_IOERR_NOMEM, .SQLITE_NOMEM: "there was not enough memory for the store \(path). Try again"
    default:
      "the store \(path) can't be written: its disk refused, or a limit on the size of files. Free some space, check "
        + "that the disk is there and whole, and try again"
    }
  }
}

extension JobError {
  /// The error that callers of the store on the file at `path` get.
  package init(_ error: any Error, path: String) {
    switch error {
    case let error as JobError: self = error
    case let error as SQLiteFailure: self.init(failure: error, path: path)
    case let error as DatabaseError: self.init(failure: SQLiteFailure(error), path: path)
    default: self.init(.storeFailed, "the store \(path) failed: \(error.briefly)", cause: error)
    }
  }

  private init(failure: SQLiteFailure, path: String) {
    func error(_ code: Code, _ text: String) -> JobError { JobError(code, text, cause: failure) }
    self =
      switch failure.code & 0xff {
      case SQLITE_BUSY, SQLITE_LOCKED:
        error(
          .locked,
          "the store \(path) is locked: another process is writing it and did not let go in time. Try again, or end that "
            + "process")
      case SQLITE_NOTADB where StoreMark.hasLostBeginning(path):
        error(
          .damaged,
          "the store \(path) has lost its first 16 bytes, by which SQLite knows it. `durable repair` makes a new one; or "
            + "put them back in a copy: printf 'SQLite format 3\\0' | dd of=\(path) conv=notrunc, then `durable check`")
      case SQLITE_NOTADB:
        error(
          .notAStore, "\(path) is no store: it is not an SQLite database. It was left as it is; choose another path")
      case SQLITE_CORRUPT:
        error(
          .damaged,
          "the store \(path) is damaged (\(failure.message)). It was left as it is; restore a backup, or salvage what can "
            + "be read into a new file: `durable repair` at a shell, `SQLiteStore.repair(from:to:)` in a program")
      case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG:
        error(
          .damaged,
          "the store \(path) refused a row (\(failure.message)), and would again: a row beside it is damaged. Look at the "
            + "file with `sqlite3 \(path) 'PRAGMA integrity_check'`")
      case SQLITE_FULL:
        error(.diskFull, "there is no room for the store \(path): nothing was stored. Free some space and try again")
      case SQLITE_READONLY:
        error(.readOnly, "the store \(path) can't be written: the file, its folder or its file system is read-only")
      case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
        error(
          .unusableFile,
          "the store \(path) can't be opened (\(failure.message)). Check that its folder exists and that you may write "
            + "to both")
      case SQLITE_IOERR, SQLITE_NOMEM: error(.storeFailed, failure.disk(path))
      default:
        error(
          .storeFailed,
          "the store \(path) failed: \(failure.message). Try again; if it stays so, look at the file with "
            + "`sqlite3 \(path) 'PRAGMA integrity_check'`")
      }
  }
}
