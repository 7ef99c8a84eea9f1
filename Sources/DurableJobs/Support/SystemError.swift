import Foundation

/// What the system said when it refused something.
package struct SystemError: Error, CustomStringConvertible {
  package let description: String

  package init(_ what: String, _ code: Int32 = errno) { description = "\(what): \(Self.words(code))" }

  /// The system's words for a code, as in "No space left on device".
  package static func words(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
}
