import DurableJobsSQLite
import Foundation

/// Stands in the line of those that write a database: `take MILLISECONDS`, or for as long as it takes, `take`; `back`,
/// `count ROUNDS FILE`.
func takeTurns(databasePath: String) throws {
  let turn = try WriterLock(folder: MeetingFolder(databasePath: databasePath))
  say("ready")
  while let words = listen() {
    switch words.first {
    case "take": say(turn.take(within: words.count > 1 ? .milliseconds(Int(words[1]) ?? 0) : asLongAsItTakes))
    case "back":
      turn.giveBack()
      say("back")
    case "count":
      var longest: UInt64 = 0
      for _ in 0..<(Int(words[1]) ?? 0) {
        let start = uptime
        guard turn.take(within: asLongAsItTakes) else { break }
        longest = max(longest, uptime - start)
        // Read, then write: an overlap would lose what the other counted.
        let file = URL(fileURLWithPath: words[2])
        let count = Int(String(decoding: try Data(contentsOf: file), as: UTF8.self)) ?? 0
        try Data("\(count + 1)".utf8).write(to: file)
        turn.giveBack()
      }
      say("counted", longest)
    default: say("what?")
    }
  }
}
