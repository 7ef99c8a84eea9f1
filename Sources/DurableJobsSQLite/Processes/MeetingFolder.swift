import DurableJobs

/// The folder beside a database in which the processes that have it open notice each other.
package struct MeetingFolder: Sendable {
  package enum Standing: Sendable { case dead(HeldLock), alive, unknown }
  package let path: String
  package init(databasePath: String) throws { path = databasePath + "-durable" }
  package func post(_ change: ForeignChange, except own: String?) {}
  package func post(_ change: ForeignChange, to session: String) {}
  package func hasSessions(besides own: String?) -> Bool { false }
  package func standing(of session: String) -> Standing { .unknown }
}
