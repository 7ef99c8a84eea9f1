import Foundation

// A process for tests that need real ones. It does what the lines on its stdin say, answers with lines on its stdout,
// and ends with its stdin.
let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "meet" where arguments.count == 2: try meet(databasePath: arguments[1])
case "turn" where arguments.count == 2: try takeTurns(databasePath: arguments[1])
case "unique" where arguments.count == 2: try await enqueueUnique(databasePath: arguments[1])
case "run" where arguments.count == 2: try await runProgram(databasePath: arguments[1], isLeft: false)
case "leave" where arguments.count == 2: try await runProgram(databasePath: arguments[1], isLeft: true)
case "open" where arguments.count == 2: openStore(databasePath: arguments[1], as: nil)
case "open" where arguments.count == 3: openStore(databasePath: arguments[1], as: uid_t(arguments[2]))
case "transact" where arguments.count == 2: try await transact(databasePath: arguments[1])
case "fork" where arguments.count == 2: try await forkWithStore(databasePath: arguments[1])
case "fuzz" where arguments.count == 2: try await fuzz(folder: arguments[1])
default:
  FileHandle.standardError.write(
    Data(
      "usage: ProcessProbe meet | transact | turn | unique | run | leave | fork | open DATABASE, or open DATABASE USER, or fuzz FOLDER\n"
        .utf8))
  exit(2)
}
