import DurableJobs
import DurableJobsSQLite
import Foundation

/// Opens a store, as another user if it is told to, and says how that went: `opened`, or `refused CODE MESSAGE`.
func openStore(databasePath: String, as user: uid_t?) {
  if let user, setgid(user) != 0 || setuid(user) != 0 { return say("impossible") }
  do {
    _ = try SQLiteStore(path: databasePath)
    say("opened")
  } catch let error as JobError {
    say("refused", error.code, error.message)
  } catch {
    say("failed", error)
  }
}
