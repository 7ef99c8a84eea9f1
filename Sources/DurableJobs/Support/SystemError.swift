import Foundation

/// An error that a system call reported.
package struct SystemError: Error, CustomStringConvertible {
  package let description: String

  package init(_ what: String, _ code: Int32 = errno) { description = "\(what): \(Self.words(code))" }

  /// The system's text for a code, such as "No space left on device".
  package static func words(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
}
