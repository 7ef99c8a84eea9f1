import Foundation

/// What a worker must serve to run a job: its queue, its kind and what it requires, as one number.
package struct Route: Hashable, Sendable {
  package let id: Int64
  package let queue: String
  package let kind: String
  package let requires: Set<JobConstraint>
  package var isPaused: Bool

  package init(id: Int64, queue: String, kind: String, requires: Set<JobConstraint>, isPaused: Bool) {
    (self.id, self.queue, self.kind, self.requires, self.isPaused) = (id, queue, kind, requires, isPaused)
  }

  /// The requirements as they are stored: none is the empty text.
  package static func text(of requires: Set<JobConstraint>) -> String { requires.isEmpty ? "" : requires.list }
}

extension Set<JobConstraint> {
  /// An unreadable list counts as empty, so that damage does not keep jobs from running.
  package init(list: String?) {
    self = list?.isEmpty ?? true ? [] : Set(names(list).map { JobConstraint(rawValue: $0) })
  }
  package var list: String { nameList(Set<String>(map(\.rawValue.composed))) }
}

extension String {
  /// The one form in which a name is stored.
  package var composed: String { utf8.allSatisfy { $0 < 0x80 } ? self : precomposedStringWithCanonicalMapping }
}

/// Names as they are stored, in one text.
package func nameList(_ names: Set<String>) -> String {
  (try? JobCoding.encode(names.sorted())).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
}

/// The names that ``nameList(_:)`` wrote; none if the text can't be read.
package func names(_ list: String?) -> Set<String> {
  (try? JSONDecoder().decode(Set<String>.self, from: Data((list ?? "").utf8))) ?? []
}
