import Foundation
import TestProcesses
import Testing

/// That the snippets compile is shown by this target being built; that they are today's, by this.
@Test("The compiled snippets are those of README.md and docs")
func snippetsAreCurrent() throws {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let check = Process()
  check.executableURL = root.appending(path: "scripts/extract-snippets")
  check.arguments = ["--check"]
  let output = Pipe()
  check.standardOutput = output
  check.standardError = output
  try launch(check)
  let printed = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  check.waitUntilExit()
  #expect(check.terminationStatus == 0, "\(printed)")
}
