import DurableJobs
import Foundation
import Testing

/// What is told of errors: words, and no domains and codes.
@Suite struct ErrorWordsTests {
  private func words(_ body: () throws -> Void) -> String {
    do {
      try body()
      return ""
    } catch {
      return error.briefly
    }
  }

  @Test func `A file error names the path, and what is wrong with it`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("durable-\(UUID().uuidString)")
    let file = folder.appendingPathComponent("file")
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(words { _ = try Data(contentsOf: file) }.hasPrefix("\(file.path): No such file or directory"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data().write(to: file)
    let inside = file.appendingPathComponent("inside").path
    let said = words {
      try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
    }
    #expect(said.hasPrefix(inside) || said.hasPrefix(file.path))
    for word in ["Error", "Domain", "Code", "UserInfo"] { #expect(!said.contains(word), "\(said)") }
  }

  @Test func `An error of the system says what to do, where that is known`() {
    #expect(POSIXError(.ENOSPC).briefly == "No space left on device; free some space")
    let file = CocoaError(
      .fileWriteUnknown, userInfo: [NSFilePathErrorKey: "/a b", NSUnderlyingErrorKey: POSIXError(.EACCES)])
    #expect(file.briefly == "/a b: Permission denied; check to whom it belongs, and what others may do")
  }

  @Test func `A screen that asks for an error's localized description gets its words`() {
    let errors: [any Error] = [
      JobError(.closed, "the store is closed"), JobExit.permanent("no such photo"),
      JobFailure(job: JobID(rawValue: 7), kind: "upload", message: "refused", attempts: 1),
    ]
    for error in errors { #expect(error.localizedDescription == "\(error)") }
  }

  @Test func `Other errors of Foundation's are told in its words, and Swift's as they are`() {
    #expect(!NSError(domain: "a", code: 3).briefly.contains("Error Domain"))
    #expect(!URLError(.timedOut).briefly.contains("Error Domain"))
    struct Own: Error { let number = 1 }
    #expect(Own().briefly == "Own(number: 1)")
    #expect(CancellationError().briefly == "CancellationError()")
  }
}
