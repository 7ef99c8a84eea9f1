#if Shell
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

    func remove() { try? FileManager.default.removeItem(atPath: path) }
  }
#endif
