/// The lock of a session that died, held by who found it.
package final class HeldLock: Sendable {
  package func bury() {}
  package func letGo() {}
}
