#if Process
  import Foundation

  /// What the system said when it refused something.
  package struct SystemError: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, _ code: Int32 = errno) { description = "\(what): \(String(cString: strerror(code)))" }
  }
#endif
