import Foundation

/// Gives a lock back and closes its file. Closing alone may not be enough: a process that another test is just starting has
/// a copy until it runs its program.
package func release(_ lock: Int32) {
  flock(lock, LOCK_UN)
  close(lock)
}
