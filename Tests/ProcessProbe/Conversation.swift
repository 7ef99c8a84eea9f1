import Dispatch
import Foundation

/// Says one line, at once and whole, whichever thread says it.
func say(_ words: Any...) {
  let line = words.map { "\($0)" }.joined(separator: " ") + "\n"
  FileHandle.standardOutput.write(Data(line.utf8))
}

/// The words of the next line that is told, or nil at the end.
func listen() -> [String]? {
  readLine().map { $0.split(separator: " ").map(String.init) }
}

/// A limit that is no limit.
let asLongAsItTakes = Duration.seconds(864_000)

/// The time by which processes of one machine can be compared, in nanoseconds.
var uptime: UInt64 { DispatchTime.now().uptimeNanoseconds }
