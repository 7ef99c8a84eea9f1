#if Postgres
  import DurableJobs
  import Foundation

  /// The database that a store is in. A copy of it, as of a dump restored elsewhere, has the store's own number, too, and
  /// must not share what a machine keeps beside the original: the locks and logs of its commands.
  struct StoreHome: Sendable {
    /// What tells its server from others; nil where the user may not read it. Its standbys have the same.
    var system: String?
    var database: Int64
    /// All that the server has.
    var databases: Set<Int64> = []

    static let databasesSQL = """
      SELECT (SELECT oid::bigint FROM pg_database WHERE datname=current_database()),
        (SELECT string_agg(oid::text,' ') FROM pg_database),has_function_privilege('pg_control_system()','EXECUTE')
      """
    static let systemSQL = "SELECT system_identifier::text FROM pg_control_system()"

    /// What the names begin with of what `folder` has for the store of this number. The first database in which it was
    /// opened here has the plain name, and is noted beside that. Another gets a name of its own, and keeps it; where the
    /// first was on the same server, and is there no more, one without such a name takes over the plain one.
    func path(in folder: String, of identity: String) -> String {
      let plain = "\(folder)/postgres-\(identity)"
      let own = "\(plain)-\(system ?? "")-\(database)"
      let (note, ownNote) = (plain + ".database", own + ".database")
      guard access(ownNote, F_OK) != 0 else { return own }
      // One that a power cut has emptied is written anew.
      if Self.noted(at: note) == nil { write(to: note) { access($1, F_OK) == 0 ? rename($0, $1) : link($0, $1) } }
      guard let first = Self.noted(at: note) else { return plain }
      if isSame(as: first) {
        // Who opened it first may not have been allowed to read which server it is.
        if first.system == nil, system != nil { write(to: note) { rename($0, $1) } }
        return plain
      }
      guard let system, system == first.system, !databases.contains(first.database) else {
        write(to: ownNote) { link($0, $1) }
        return own
      }
      write(to: note) { rename($0, $1) }
      return plain
    }

    private func isSame(as other: StoreHome) -> Bool {
      database == other.database && (system == other.system || system == nil || other.system == nil)
    }

    /// Whole or not at all, whoever else writes it. What could not be noted is tried again by who opens the store next.
    private func write(to note: String, naming name: (String, String) -> Int32) {
      let own = "\(note).\(UUID().uuidString)"
      defer { unlink(own) }
      let text = "\(system ?? "-") \(database)\n"
      guard FileManager.default.createFile(atPath: own, contents: Data(text.utf8)) else { return }
      _ = name(own, note)
    }

    private static func noted(at path: String) -> StoreHome? {
      let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.count == 2, let database = Int64(words[1]) else { return nil }
      return StoreHome(system: words[0] == "-" ? nil : String(words[0]), database: database)
    }
  }
#endif
