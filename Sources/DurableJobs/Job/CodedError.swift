import Foundation

/// An error with a stable code to match on, for where the name of its type is too coarse. The code is stored as
/// ``AttemptFailure/code`` beside the message; keep it the same in all versions of an app.
public protocol CodedError: Error { var failureCode: String { get } }

extension Error {
  /// The code that is stored for this error.
  package var codeToKeep: String {
    if let coded = self as? any CodedError { return coded.failureCode.cutToMessage }
    if let exit = self as? JobExit, case .permanent(let error) = exit.way { return error.codeToKeep }
    if let exit = self as? JobExit, case .retry(_, let error) = exit.way { return error.codeToKeep }
    let error = self as NSError
    return type(of: self) is NSError.Type ? "\(error.domain).\(error.code)" : "\(type(of: self))"
  }
}
