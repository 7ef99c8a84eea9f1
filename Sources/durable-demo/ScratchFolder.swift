#if Shell
  import DurableJobs
  import Foundation

  /// A new folder for what a demo needs, among the temporary files.
  struct ScratchFolder {
    let path: String

    init() throws {
      let base = FileManager.default.temporaryDirectory.path
      var template = Array("\(base)/durable-demo-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw SystemError("can't make a scratch folder in \(base)") }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes it with all that is in it.
    func remove() { Self.remove(path) }

    static func remove(_ path: String) {
      // A store that was closed, or a command whose worker was killed, may for a moment still write or delete something in
      // it, and then removing it stops half-way.
      for _ in 0..<100 {
        try? FileManager.default.removeItem(atPath: path)
        if access(path, F_OK) != 0 { return }
        usleep(20_000)
      }
    }
  }
#endif
