#if HTTP
  import Foundation

  /// What distinguishes one version of a file on a server from another.
  struct FileVersion: Codable, Hashable, Sendable {
    var total: Int64?
    var entityTag: String?
    var lastModified: String?
    var wasJustModified: Bool?
    /// Where the answer came from, as ``HTTPURL/place``: a tag names a version of one resource, and another's file may have
    /// the same tag.
    var place: String?
    /// The same with whatever query, as ``HTTPURL/source``: of what comes from another one nobody knows without its bytes
    /// whether it is the same file.
    var source: String?
    /// As whom of the file of passwords servers were asked on the way to it: a digest of each host and user, which says
    /// nothing of them. Nil for nobody.
    var users: String?
    /// The type that its server gave it.
    var type: String?
    /// Whether it came as a page for people.
    var isPage: Bool?
    /// The encoding by which it was labelled, though it is packed by itself.
    var coding: String?

    /// What a request for the rest may depend on (`If-Range`): a strong tag, or without one a date that can't name two
    /// versions. RFC 9110, sections 8.8.2.2 and 13.1.5. A tag that is empty, and a date before there was HTTP, are those of
    /// all versions.
    var validator: String? {
      if let entityTag { return entityTag.lowercased().hasPrefix("w/") || entityTag == "\"\"" ? nil : entityTag }
      return lastModified.flatMap { isTold(by: HTTPDate.date($0)) ? $0 : nil }
    }

    /// Whether the date of its last change can't be that of another version. One that can't be read is a word like any other.
    func isTold(by date: Date?) -> Bool { wasJustModified != true && date.map { $0 >= Self.begin } ?? true }

    /// 1990.
    private static let begin = Date(timeIntervalSince1970: 631_152_000)

    var hasStrongTag: Bool { entityTag != nil && validator != nil }

    /// Whether the other one repeats what a request for the rest depended on. A server need not repeat its date to a
    /// client that sent it, but nearly all do; one that doesn't may not have compared it either.
    func isRepeated(by other: FileVersion) -> Bool {
      guard validator != nil else { return true }
      if let place, let otherPlace = other.place, place != otherPlace {
        // The query of a redirect may be made anew each time.
        let isOfQuery = place.prefix { $0 != "?" } == otherPlace.prefix { $0 != "?" }
        guard isOfQuery, hasStrongTag || total != nil && total == other.total else { return false }
      }
      if !hasStrongTag, users != other.users { return false }
      return entityTag == nil ? lastModified == other.lastModified : entityTag == other.entityTag
    }

    /// Whether both state a version, and differ.
    func contradicts(_ other: FileVersion) -> Bool {
      if let entityTag, let tag = other.entityTag { return entityTag != tag }
      if let lastModified, let date = other.lastModified { return lastModified != date }
      return false
    }
  }

  /// `bytes 100-199/1000`, `bytes */1000`.
  struct ContentRange: Equatable {
    var first: Int64 = 0
    var last: Int64 = -1
    var total: Int64?

    init?(_ text: String?) {
      guard let text = text?.trimmingCharacters(in: .whitespaces), text.lowercased().hasPrefix("bytes") else {
        return nil
      }
      let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2 else { return nil }
      total = Int64(parts[1])
      guard total ?? 0 >= 0 else { return nil }
      if parts[0] == "*" { return }
      let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
      guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, last >= 0
      else { return nil }
      (self.first, self.last) = (first, last)
    }
  }
#endif
