import Foundation
import TestProcesses
import Testing

/// That the snippets compile is shown by this target being built; that they are today's, by this.
@Test("The compiled snippets are those of README.md and docs")
func snippetsAreCurrent() throws {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let output = Pipe()
  let writing = output.fileHandleForWriting
  let check = try ChildProcess(
    root.appending(path: "scripts/extract-snippets").path, ["--check"], output: writing.fileDescriptor,
    error: writing.fileDescriptor)
  try writing.close()
  let printed = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  #expect(check.wait() == .exited(0), "\(printed)")
}
