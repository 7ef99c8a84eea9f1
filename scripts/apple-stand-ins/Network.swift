// What is called of Apple's Network framework (Network.swiftinterface, macOS 15 SDK). For scripts/check-apple alone.
import Dispatch

public struct NWPath: Sendable {
  public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
  public let status: Status
}

public final class NWPathMonitor: @unchecked Sendable {  // as it is declared there
  public init() { fatalError() }
  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
    get { nil }
    set {}
  }
  public func start(queue: DispatchQueue) {}
  public func cancel() {}
}
