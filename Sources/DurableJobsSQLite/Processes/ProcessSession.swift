import DurableJobs

/// This process, as the others that have the same database open see it.
package final class ProcessSession: Sendable {
  package let name: String
  package init(
    folder: MeetingFolder, onSignal: @escaping @Sendable (ForeignChange) -> Void,
    onDeath: @escaping @Sendable (String) -> Void
  ) throws { name = "" }
  package func close() {}
}
