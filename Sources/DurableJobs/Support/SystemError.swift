import Foundation

package struct SystemError: Error, CustomStringConvertible {
  package let description: String

  package init(_ what: String, _ code: Int32 = errno) { description = "\(what): \(Self.words(code))" }

  /// The system's text for a code, such as "No space left on device".
  package static func words(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }

  /// What helps, where that is known.
  static func remedy(_ code: Int32) -> String? {
    switch code {
    case ENOSPC, EDQUOT: "free some space"
    case EACCES, EPERM: "check to whom it belongs, and what others may do"
    case ENOENT, ENOTDIR: "check the path"
    case EROFS: "choose a place that can be written"
    default: nil
    }
  }
}
