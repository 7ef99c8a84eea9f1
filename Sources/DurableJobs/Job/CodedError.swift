import Foundation

/// An error that says itself by what it can be matched, where the name of its type does not say enough: kept as
/// ``AttemptFailure/code`` beside its message. It should be the same text in all versions of an app.
public protocol CodedError: Error {
  var failureCode: String { get }
}

extension Error {
  /// By what it can be matched once it is stored.
  package var codeToKeep: String {
    if let coded = self as? any CodedError { return coded.failureCode.cutToMessage }
    if let exit = self as? JobExit, case .permanent(let error) = exit.way { return error.codeToKeep }
    if let exit = self as? JobExit, case .retry(_, let error) = exit.way { return error.codeToKeep }
    let error = self as NSError
    return type(of: self) is NSError.Type ? "\(error.domain).\(error.code)" : "\(type(of: self))"
  }
}
