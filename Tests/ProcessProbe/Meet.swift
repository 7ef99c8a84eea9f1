import DurableJobs
import DurableJobsSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Joins the processes that have a database open: `post RAW`, `child`, `fork`, `leave`.
func meet(databasePath: String) throws {
  let folder = try MeetingFolder(databasePath: databasePath)
  let session = try ProcessSession(
    folder: folder,
    onSignal: { say("signal", $0.rawValue, uptime) },
    onDeath: { say("death", $0, uptime) })
  say("session", session.name, folder.path)
  while let words = listen() {
    switch words.first {
    case "post":
      let time = uptime
      folder.postbox.post(ForeignChange(rawValue: UInt8(words[1]) ?? 0), except: session.name)
      say("posted", time)
    case "child": say("child", startChild())
    case "fork": say("child", forked { while true { pause() } })
    case "leave":
      session.close()
      say("left")
    default: say("what?")
    }
  }
  session.close()
}

/// Starts a child that inherits every descriptor that is not closed on exec.
private func startChild() -> pid_t {
  var child: pid_t = 0
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("864000"), nil]
  posix_spawn(&child, "/bin/sleep", nil, nil, &arguments, environ)
  for argument in arguments { free(argument) }
  return child
}
