import DurableJobs
import DurableJobsSQLite
import Foundation
import GRDB

/// Opens a store, as another user if it is told to, and says how that went: `opened`, or `refused CODE MESSAGE`. Before
/// that, it says `recovered` each time that SQLite reads the whole log.
func openStore(databasePath: String, as user: uid_t?) {
  if let user, setgid(user) != 0 || setuid(user) != 0 { return say("impossible") }
  Database.logError = { code, _ in if code == .SQLITE_NOTICE_RECOVER_WAL { say("recovered") } }
  do {
    _ = try SQLiteStore(path: databasePath)
    say("opened")
  } catch let error as JobError {
    say("refused", error.code, error.message)
  } catch {
    say("failed", error)
  }
}
