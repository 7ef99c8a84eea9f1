#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation

  /// Where a store is: in a file, or on a server.
  enum StorePlace: Sendable {
    /// By its absolute path.
    case file(String)
    case server(ServerPlace)

    /// What people write for it. A file whose name looks like a connection string is written with a folder, as `./host=x`.
    init(_ text: String) throws {
      if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") || Self.isConnectionString(text) {
        self = .server(try ServerPlace(text))
        return
      }
      guard !text.contains("://"), !text.hasPrefix("postgres:"), !text.hasPrefix("postgresql:") else {
        // What is no URL may have a password anywhere.
        let shown = text.contains("://") ? text.withoutPasswords : "\(text.prefix { $0 != ":" }):…"
        throw ValidationError("\(shown) is no store; give it the path of a file, or postgres://user@host/database")
      }
      let path = NSString(string: text).expandingTildeInPath
      self = .file(path.hasPrefix("/") ? path : try Self.here() + "/" + path)
    }

    /// Whether it begins with a parameter of libpq's that no file's name begins with, or with any, and such a one follows that
    /// says which server, or as whom.
    private static func isConnectionString(_ text: String) -> Bool {
      guard text.contains("=") else { return false }
      let place = /(?:[a-z_]+\s*=.*\s)?(?:host|hostaddr|dbname|user|password|passfile|service)\s*=/
      let other = /(?:port|sslmode|durable_[a-z]+)\s*=/
      let text = text.drop(while: \.isWhitespace)
      return text.prefixMatch(of: other) != nil || text.prefixMatch(of: place.dotMatchesNewlines()) != nil
    }

    /// The current folder.
    static func here() throws -> String {
      guard let here = SystemText.currentDirectory else {
        throw ValidationError("the current folder is gone; go to another one, or give the store's whole path")
      }
      guard here.isUTF8 else {
        throw ValidationError("the store's path is no UTF-8: it is in \(here.display); choose another path")
      }
      return here.display
    }

    /// What is told of it: no password.
    var name: String {
      get throws {
        switch self {
        case .file(let path): path
        case .server(let place): try Self.describe(place)
        }
      }
    }

    /// The path of a file without symbolic links, also of one that is gone.
    static func resolved(_ path: String) throws -> String {
      func real(_ path: String) -> String? {
        realpath(path, nil).map { found in
          defer { free(found) }
          return String(cString: found)
        }
      }
      // Of a path with one letter, NSString knows no folder, and ends the process.
      let path = path.hasPrefix("/") ? path : try here() + "/" + path
      if path == "/" { return path }
      let (folder, name) = ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
      return real(path) ?? real(folder).map { ($0 == "/" ? "" : $0) + "/" + name } ?? path
    }

    /// The path of the file. Throws what to do `instead` if it is on a server.
    func file(instead: String) throws -> String {
      guard case .file(let path) = self else {
        throw ValidationError("this is for a store in a file, and \(try name) is on a server. \(instead)")
      }
      return path
    }

    #if Postgres
      private static func describe(_ place: ServerPlace) throws -> String { try place.name }
    #else
      /// Without libpq, what is its password can't be told.
      private static func describe(_ place: ServerPlace) throws -> String { throw notBuilt }

      static let notBuilt = ValidationError(
        "this program was built without libpq, and opens stores in files alone. Install libpq (libpq-dev on Debian and Ubuntu, "
          + "brew install libpq on macOS), and build it again: make install, or swift build --traits Shell,Postgres")
    #endif
  }

  /// What the commands ask of a store beside the queue's own questions.
  protocol ShellStore: JobStore {
    /// Who works on it, the oldest first.
    func workers() async throws -> [StoredWorker]
    /// How many unfinished jobs require each condition.
    func required() async throws -> [JobConstraint: Int]
    /// The jobs that wait for this one, or waited for it, by id.
    func children(of id: JobID) async throws -> [JobID]
    /// What is kept beside jobs and does not fit them; put right if `mending`.
    func check(mending: Bool) async throws -> [StoreFinding]
  }

  extension SQLiteStore: ShellStore {}
  #if Postgres
    extension PostgresStore: ShellStore {}
  #endif
#endif
