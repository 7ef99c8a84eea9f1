import DurableJobs
import Foundation

/// This process, as the others that have the same database open see it: where they send word of changes, and a lock
/// and connections by which they notice within a second that it ended.
///
/// What has died in the folder, before or after this session began, is reported by each session that notices, once.
/// The lock of the dead one (``MeetingFolder/standing(of:)``) arbitrates who clears up.
package final class ProcessSession: Sendable {
  /// Eight hexadecimal digits, which nobody else in the folder has.
  package let name: String
  private let listener: SessionListener

  /// Joins. Visible to the others when this returns; so look for work after it, not before.
  ///
  /// Both callbacks run on one thread of the session's own. While one runs, the session neither hears nor watches.
  /// - Parameters:
  ///   - onSignal: Changes that others told of, those that came together as one.
  ///   - onDeath: A session whose process ended without closing it.
  package init(
    folder: MeetingFolder, onSignal: @escaping @Sendable (ForeignChange) -> Void,
    onDeath: @escaping @Sendable (String) -> Void
  ) throws {
    let files = try SessionFiles(in: folder.path)
    name = files.name
    do {
      listener = try SessionListener(folder: folder, files: files, onSignal: onSignal, onDeath: onDeath)
    } catch {
      files.withdraw()
      throw error
    }
    listener.start()
  }

  /// Leaves in order: the others see no death. No callback runs once this has returned, unless it is called by one;
  /// so it must not be called while holding what a callback waits for. A second call does nothing.
  package func close() { listener.close(.inOrder) }

  /// The same, but the others find it dead at once: something that is known by its name could not be taken back.
  package func abandon() { listener.close(.asDead) }

  /// The process ends in order: it is seen no more, and nothing is left of it in the folder.
  package func withdraw() { listener.files.withdraw() }

  deinit { close() }
}
