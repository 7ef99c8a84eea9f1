import Foundation

extension JobError: LocalizedError { public var errorDescription: String? { description } }

extension Error {
  /// The error in one line for a person. Coding errors include the path to the value.
  package var briefly: String {
    switch self {
    case let error as EncodingError:
      switch error {
      case .invalidValue(let value, let context): "\(value) at \(context.codingPath.path): \(context.debugDescription)"
      @unknown default: "\(error)"
      }
    case let error as DecodingError:
      switch error {
      case .keyNotFound(let key, let context): "no '\(key.stringValue)' at \(context.codingPath.path)"
      case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
        "no \(type) at \(context.codingPath.path)"
      case .dataCorrupted(let context): "\(context.debugDescription) at \(context.codingPath.path)"
      @unknown default: "\(error)"
      }
    case let error as any LocalizedError where error.errorDescription != nil: error.errorDescription!
    default: ifFoundations ?? "\(self)"
    }
  }

  /// The path and the reason of an error of Foundation's or the system's, without codes and dictionaries; else nil.
  private var ifFoundations: String? {
    guard "\(self)".hasPrefix("Error Domain=") else { return nil }
    let error = self as NSError
    let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
    var words = error.localizedFailureReason ?? error.localizedDescription
    if cause.domain == NSPOSIXErrorDomain {
      let code = Int32(truncatingIfNeeded: cause.code)
      words = [SystemError.words(code), SystemError.remedy(code)].compactMap(\.self).joined(separator: "; ")
    }
    let path = error.userInfo[NSFilePathErrorKey].map { "\($0)" } ?? (error.userInfo[NSURLErrorKey] as? URL)?.path
    return path.map { "\($0): \(words)" } ?? words
  }
}

extension [any CodingKey] {
  fileprivate var path: String { isEmpty ? "the top" : map(\.stringValue).joined(separator: ".") }
}
