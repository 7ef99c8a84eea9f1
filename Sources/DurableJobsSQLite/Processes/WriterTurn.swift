/// The line in which the processes that write one database stand.
package final class WriterTurn: Sendable {
  package init(folder: MeetingFolder) throws {}
  package func take(within: Duration) -> Bool { true }
  package func giveBack() {}
}
