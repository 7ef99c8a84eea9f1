// What DurableJobsOperations overrides and calls of OperationQueue, as NSOperation.h of the macOS 15 SDK has it, by way of Swift's
// importer: Foundation's own for Linux lets nobody override `operations`. For scripts/check-apple alone.
import Foundation

open class OperationQueue: NSObject, ProgressReporting, @unchecked Sendable {
  open var progress: Progress { fatalError() }
  open func addOperation(_ op: Operation) {}
  open func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {}
  open func addOperation(_ block: @escaping @Sendable () -> Void) {}
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {}
  open var maxConcurrentOperationCount: Int {
    get { fatalError() }
    set {}
  }
  open var isSuspended: Bool {
    get { fatalError() }
    set {}
  }
  open var name: String? {
    get { fatalError() }
    set {}
  }
  open func cancelAllOperations() {}
  open func waitUntilAllOperationsAreFinished() {}
  open var operations: [Operation] { fatalError() }
  open var operationCount: Int { fatalError() }
}
