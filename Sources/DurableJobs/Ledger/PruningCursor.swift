/// How far a process has looked for jobs past their retention. A pass goes over all ids, in bites; when it is through,
/// the next need not begin before the first of those that it left behind expires.
package struct PruningCursor: Sendable {
  /// How often the clock had been set back when this was reckoned.
  package var setBacks = 0
  /// The next pass begins then.
  package var nextPass: Int64 = .min
  /// Ids up to here were looked at.
  package var id: Int64 = .min
  /// The earliest expiry of a job that this pass left, or that may have ended behind it.
  package var earliest: Int64 = .max

  package init(setBacks: Int = 0, nextPass: Int64 = .min) {
    self.setBacks = setBacks
    self.nextPass = nextPass
  }
}
