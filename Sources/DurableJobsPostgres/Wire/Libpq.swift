#if Postgres
  import CPostgres
  import DurableJobs

  /// The library of PostgreSQL, without which there are no stores on servers.
  enum Libpq {
    /// Throws what to install where it can't be loaded. On Apple's systems the program would not have started.
    static func require() throws {
      #if os(Linux)
        guard let words = durable_load_libpq() else { return }
        throw JobError(
          .storeFailed,
          "a store on a server needs libpq 14 or newer, which can't be used: \(String(cString: words)). Install it: "
            + "libpq5 on Debian and Ubuntu, libpq on others")
      #endif
    }
  }
#endif
