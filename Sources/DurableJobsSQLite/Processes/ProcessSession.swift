import DurableJobs

/// This process as seen by the others that have the same database open: where they send signals, and a lock and
/// connections by which they notice within a second that it ended.
///
/// A session that died in the folder, at any time, is reported once by each session that notices.
/// Its lock (``MeetingFolder/standing(of:)``) decides which of them cleans up.
package final class ProcessSession: Sendable {
  /// Eight hexadecimal digits, unique in the folder.
  package let name: String
  private let listener: SessionListener

  /// Joins the folder. The session is visible to others when this returns, so look for work after it, not before.
  ///
  /// Both callbacks run on the session's own thread. While one runs, the session neither receives nor watches.
  /// - Parameters:
  ///   - onSignal: Called with changes that others signalled, merged if they arrive together.
  ///   - onDeath: Called with a session whose process ended without closing it.
  package init(
    folder: MeetingFolder, onSignal: @escaping @Sendable (ForeignChange) -> Void,
    onDeath: @escaping @Sendable (String) -> Void
  ) throws {
    try folder.make()  // somebody may have tidied it away
    let files = try SessionFiles(in: folder.path)
    name = files.name
    do { listener = try SessionListener(folder: folder, files: files, onSignal: onSignal, onDeath: onDeath) } catch {
      files.withdraw()
      throw error
    }
    listener.start()
  }

  /// Leaves properly: the others see no death. No callback runs after this returns, unless it is called by one, so do
  /// not hold anything that a callback waits for. A second call does nothing.
  package func close() { listener.close(.inOrder) }

  /// Leaves so that the others find it dead at once, because something stored under its name could not be removed.
  package func abandon() { listener.close(.asDead) }

  /// Called when the process exits: makes the session invisible and removes its files from the folder.
  package func withdraw() { listener.files.withdraw() }

  deinit { close() }
}
