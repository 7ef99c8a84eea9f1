import Foundation

/// Starts processes of tests one after the other: Foundation's `Process.run` has crashed where two ran at once.
package func launch(_ process: Process) throws { try lock.withLock { try process.run() } }

private let lock = NSLock()
