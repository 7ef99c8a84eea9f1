#if Shell && Postgres
  import Foundation
  import PostgresTestServer
  import Testing

  @Suite("Parameters of a store on a server")
  struct ServerPlaceTests {
    private let server: TestServer
    private let database: String
    private let durable: Durable

    init() throws {
      server = try TestServer.shared.get()
      database = try server.database()
      durable = try Durable(store: server.string(database: database))
    }

    private var url: String { "postgres://postgres@/\(database)?host=\(server.folder)" }

    @Test("Behind a transaction pooler all is done for who says so, and who does not is told what to say")
    func pooled() async throws {
      let way = try TestPooler.shared.get().way
      let plain = "\(way) user=postgres dbname=\(database)"
      _ = try await durable("status", "--store", plain)
      _ = try await durable("add", "--store", plain, "--", "true")
      let refused = try await durable("add", "--store", plain, "--", "true")
      #expect(refused.status == .exited(5) && refused.stderr.contains("durable_pooled=yes"), "\(refused.stderr)")
      let words = way.split(separator: " ").map { $0.split(separator: "=")[1] }
      for store in [
        "\(plain) durable_pooled = 'yes' durable_schema=jobs",
        "postgres://postgres@:\(words[1])/\(database)?durable_pooled=yes&host=\(words[0])&durable_schema=jobs",
      ] {
        let id = try await durable("add", "--store", store, "--", "true")
        #expect(id.status == .exited(0), "\(id.stderr)")
        #expect(try await durable("work", "--drain", "--store", store).status == .exited(0))
        let shown = try await durable("show", id.line, "--json", "--store", store)
        #expect(try shown.json["state"] as? String == "succeeded", "\(shown.stderr)")
      }
      #expect(try server.psql("SELECT count(*) FROM jobs.job", database: database) == [["2"]])
    }

    @Test(
      "What can't be said of a store is refused with what can",
      arguments: [
        ("durable_pooled=maybe", "'maybe'; it can be yes or no"),
        ("durable_poled=yes", "durable_pooled and durable_schema"),
        ("durable_schema=a-b", "letters, digits and _"),
      ])
    func refused(parameter: String, says: String) async throws {
      for store in [url + "&" + parameter, durable.store + " " + parameter] {
        let outcome = try await durable("status", "--store", store)
        #expect(outcome.status == .exited(2) && outcome.stderr.contains(says), "\(outcome.stderr)")
      }
    }

    @Test("A line to copy has all that was said of the store but the password")
    func hints() async throws {
      let (user, more) = ("postgres:h?nter2@", "sslmode=prefer&durable_schema=jobs")
      let typed = url.replacing("postgres@", with: user) + "&password=hunter2&" + more
      try await durable("add", "--store", typed, "--", "true")
      let hint = try await durable("status", "--store", typed)
      #expect(hint.stderr.contains("durable work --store '\(url)&\(more)'"), "\(hint.text)\(hint.stderr)")
      #expect(!(hint.text + hint.stderr).contains("nter2"))
      let words = "host=\(server.folder) user=postgres password='hunter 2' dbname=\(database) sslmode=prefer"
      try await durable("add", "--store", words, "--", "true")
      let other = try await durable("status", "--store", words)
      let shown = words.replacing("password='hunter 2' ", with: "")
      #expect(other.stderr.contains("durable work --store '\(shown)'"), "\(other.text)\(other.stderr)")
    }

    @Test("A connection string in the environment, in the place of a database's name, is refused and not shown")
    func environment() async throws {
      let store = "host=\(server.folder) user=postgres"
      let outcome = try await durable(
        "status", "--store", store, environment: ["PGDATABASE": "postgres://u:hunter2@127.0.0.1/x"])
      #expect(outcome.stderr.contains("dbname, as given or in the environment"), "\(outcome.stderr)")
      #expect(outcome.status == .exited(2) && !(outcome.text + outcome.stderr).contains("hunter2"))
    }

    @Test("A schema of its own is printed for who makes tables by hand")
    func printed() async throws {
      let script = try await durable("migrate", "--print", "--store", url + "&durable_schema=jobs").text
      #expect(script.contains("CREATE SCHEMA IF NOT EXISTS \"jobs\"") && !script.contains("\"durable_jobs\"."))
    }

    @Test("What libpq says in lines is one")
    func oneLine() async throws {
      let outcome = try await durable("status", "--store", "postgres://me@127.0.0.1:1/x")
      #expect(outcome.stderr.contains("Connection refused; is the server running"), "\(outcome.stderr)")
      #expect(outcome.stderr.split(separator: "\n").count == 1 && !outcome.stderr.contains("\\n"))
    }
  }
#endif
