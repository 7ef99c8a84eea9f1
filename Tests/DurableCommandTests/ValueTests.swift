#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation
  import Testing

  @testable import durable

  @Suite("Values of the command line")
  struct ValueTests {
    @Test(
      "lengths of time",
      arguments: [
        ("90", 90_000), ("90s", 90_000), ("5m", 300_000), ("2h", 7_200_000), ("1d", 86_400_000), ("1h30m", 5_400_000),
        ("250ms", 250), ("1.5h", 5_400_000), ("0", 0),
      ] as [(String, Int)])
    func durations(text: String, milliseconds: Int) {
      #expect(DurationArgument(argument: text)?.duration == .milliseconds(milliseconds))
    }

    @Test(
      "what begins as a JSON text after --json is the body, and what any other command has there is not",
      arguments: [
        ("true", true), ("false", true), ("null", true), ("-", true), (" {\"a\": 1}", true), ("\n[1]", true),
        ("-7", true),
        ("POST", false), ("true-method", false), ("--follow", false), ("-H", false), ("http://h", false),
      ])
    func parting(word: String, isBody: Bool) {
      #expect(SendCommand.partingJSON(["send", "--json", word])[1] == (isBody ? "--json-body" : "--json"))
      #expect(SendCommand.partingJSON(["status", "--json", word])[1] == "--json")
    }

    @Test(
      "options of every command may stand before it",
      arguments: [
        ("--store a.sqlite status -n 3", "status --store a.sqlite -n 3"),
        ("--json --store=a limits set --queue q", "limits set --json --store=a --queue q"),
        ("--store a add -- status", "add --store a -- status"),
        ("--store a statsu", "--store a statsu"), ("--store", "--store"), ("status --store a", "status --store a"),
      ])
    func afterVerb(typed: String, meant: String) {
      #expect(StoreOptions.afterVerb(typed.split(separator: " ").map(String.init)).joined(separator: " ") == meant)
    }

    @Test(
      "what stands behind -- is not the parser's, of verbs that take a command",
      arguments: [
        ("add --key k -- a --json -- b", "add --key k"), ("add a -- b", "add a"), ("edit 7 -- a", "edit 7"),
        ("schedule add n -- a", "schedule add n"), ("batch create b -- a", "batch create b"),
        ("schedule list -- a", "schedule list -- a"), ("status -- a", "status -- a"), ("add a b", "add a b"),
      ])
    func commandWords(typed: String, seen: String) {
      #expect(CommandWords.parting(typed.split(separator: " ").map(String.init)).joined(separator: " ") == seen)
    }

    @Test("ids are one word for the parser, however many they are, and none is the value of an option")
    func manyIDs() {
      let many = (1...4000).map { "\($0)" }
      #expect(CommandWords.joining(["cancel"] + many + ["-y"]).count == 3)
      #expect(CommandWords.joining(["wait", "--nonsense"] + many + ["--json"] + many).count == 7)
      #expect(CommandWords.joining(["show"] + many).count == 4001)
      let joined = CommandWords.joining(["edit", "1", "3-7", "--priority", "5", "8", "9", "x", "7-3", "2"])
      #expect(joined == ["edit", "1\u{0}3-7", "--priority", "5", "8\u{0}9", "x", "7-3", "2"])
      #expect(JobRanges(argument: joined[1])?.all == ["1", "3-7"].compactMap { JobRange(argument: $0) })
      #expect(JobRanges(argument: "1\u{0}x") == nil)
    }

    @Test("options that are repeated are few for the parser")
    func repeatedOptions() {
      let many = (1...4000).flatMap { ["--after", "\($0)"] }
      #expect(CommandWords.joining(["add", "--json"] + many + ["--tag", "t", "--after-end", "a"]).count == 8)
      #expect(CommandWords.joining(["status"] + many).count == 8001)
      let typed = ["get", "--after", "a b", "--after", "", "--after-end", "c", "--after-end", "d"]
      let joined = CommandWords.joining(typed)
      #expect(joined == ["get", "--after", "a b\0", "--after-end", "c\0d"])
      #expect(CommandWords.parted([joined[2], joined[4], "e"]) == ["a b", "", "c", "d", "e"])
    }

    @Test("tags, variables and URLs are few for the parser")
    func repeatedWords() {
      let many = (1...4000).map { "\($0)" }
      let tags = many.flatMap { ["--tag", $0] }
      #expect(CommandWords.joining(["add"] + tags + many.flatMap { ["--env", "A\($0)=1"] } + ["true"]).count == 6)
      let urls = many.map { "http://h/\($0)" }
      #expect(CommandWords.joining(["get", "--detach"] + urls + ["-o", "out"] + tags + urls).count == 9)
      #expect(CommandWords.joining(["send", "POST"] + urls).count == 4002)
      let joined = CommandWords.joining(["get", "-H", "a://b", "c://d", "e://f", "g", "h://i", "--tag", "t", "j://k"])
      #expect(joined == ["get", "-H", "a://b", "c://d\0e://f", "g", "h://i", "--tag", "t", "j://k"])
    }

    @Test("what filters jobs, headers and the variables of edit are few for the parser, also with a sign between")
    func repeatedValues() {
      func many(_ option: String, _ value: String) -> [String] { (1...2000).flatMap { [option, "\(value)\($0)"] } }
      for verb in ["status", "cancel", "retry", "wait", "prune", "edit"] {
        #expect(CommandWords.joining([verb] + many("--tag", "t") + many("--key", "k") + ["--json"]).count == 6)
        #expect(CommandWords.joining([verb] + (1...2000).map { "--tag=t\($0)" }).count == 3)
      }
      #expect(CommandWords.joining(["edit", "7"] + many("--env", "A=")).count == 4)
      for verb in ["get", "send"] {
        #expect(CommandWords.joining([verb] + many("-H", "A: ") + many("--header", "B: ")).count == 5)
      }
      let reason = ["cancel", "7", "--reason", "--tag=x"]
      #expect(CommandWords.joining(reason) == reason, "a value is a value")
      #expect(CommandWords.joining(["add", "ls", "--tag=x"]) == ["add", "ls", "--tag=x"], "it is the command's")
    }

    #if Postgres
      @Test(
        "a password that libpq would take for something else is refused and not shown",
        arguments: [
          "postgres://u:se/cret@h/d", "postgresql://u:se@cret@h/d", "postgres:/u:se/cret@h/d", "mysql://u:se/cret@h",
          "host=h dbname=postgres://u:secret@h/d", "host=h durable_pooled=yes dbname='user=u password=secret'",
          "postgres:///d?durable_schema=s&dbname=postgres://u:secret@h/d",
        ])
      func illPassword(text: String) {
        let error = #expect(throws: (any Error).self) { try StorePlace(text) }
        #expect(error.map { !"\($0)".contains("cret") } ?? false, "\(error.map { "\($0)" } ?? "")")
      }

      @Test(
        "a connection string is one in whatever order its parameters stand, and a name with an equals sign is a file's",
        arguments: [
          ("connect_timeout=5 host=db user=u password=secret dbname=jobs", true), ("a = 'b c'\n dbname = jobs", true),
          (" port=1", true), ("durable_schema=s", true), ("a=b.sqlite", false), ("a=b myhost=c", false),
          ("a=b host", false), ("./a=b host=c", false), ("host", false),
        ])
      func connectionString(text: String, isOne: Bool) throws {
        if case .server = try StorePlace(text) { #expect(isOne) } else { #expect(!isOne) }
      }

      @Test(
        "a store on a server is shown as it was typed, but for its password",
        arguments: [
          ("postgres://u:p%40?#@h:1/d?a=b", "postgres://u@h:1/d?a=b", true),
          ("postgres://u@h,i:2/d?password=x&a=b@c", "postgres://u@h,i:2/d?a=b@c", true),
          ("postgres://h:1,i:2/d?a=b@c", "postgres://h:1,i:2/d?a=b@c", false),
          ("postgres:///d", "postgres:///d", false),
          ("postgres://h/d?scram_client_key=x&a=b", "postgres://h/d?a=b", true),
          ("a=b host=h scram_server_key='x y'", "a=b host=h", true),
        ])
      func shownPlace(text: String, shown: String, hasSecret: Bool) throws {
        let place = try ServerPlace(text)
        #expect(place.shown == shown)
        #expect(place.hasSecret == hasSecret)
      }
    #endif

    @Test("what is asked of a store that is away is asked again, and of one that refuses it is not")
    func patience() async throws {
      let durable = try Durable()
      let store = try await OpenStore(.file(durable.store), isMade: true)
      var asked = 0
      func ask(_ code: JobError.Code) throws -> Int {
        asked += 1
        if asked < 3 { throw JobError(code, "no") }
        return asked
      }
      #expect(try await store.patiently { try ask(.storeFailed) } == 3)
      asked = 0
      await #expect(throws: JobError.self) { try await store.patiently { try ask(.damaged) } }
      #expect(asked == 1)
      await store.store.close()
    }

    @Test("what may take long for each job is waited for at once")
    func ofEach() async throws {
      let durable = try Durable()
      let store = try await OpenStore(.file(durable.store), isMade: true)
      let ids = (1...250).map { JobID(rawValue: $0) }
      let gate = Gate()
      let answers = try await store.ofEach(ids) { id in
        if id == ids[0] { await gate.pass() }
        if id == ids[1] { gate.open() }
        return id.rawValue % 2 == 0 ? nil : "\(id)"
      }
      #expect(answers.count == 125 && answers[ids[0]] == "1")
      await store.store.close()
    }

    @Test("what is no length of time", arguments: ["", "s", "-5", "5x", "1e3", "5 m", "∞", "999999d", "1..2", "٣"])
    func noDurations(text: String) { #expect(DurationArgument(argument: text) == nil) }

    private static let berlin: Calendar = {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = TimeZone(identifier: "Europe/Berlin")!
      return calendar
    }()

    @Test(
      "moments: with a zone, in local time, a day, and the next time of day",
      arguments: [
        ("2026-11-21T18:30:05Z", "2026-11-21T18:30:05.000Z"), ("2026-11-21T18:30+02:00", "2026-11-21T16:30:00.000Z"),
        ("2026-11-21 18:30", "2026-11-21T17:30:00.000Z"), ("2026-11-22", "2026-11-21T23:00:00.000Z"),
        ("2026-11-21T18:30:05.25Z", "2026-11-21T18:30:05.250Z"), ("13:00", "2026-11-21T12:00:00.000Z"),
        ("9:05", "2026-11-22T08:05:00.000Z"),
      ])
    func moments(text: String, expected: String) throws {
      let now = try Date("2026-11-21T11:00:00.000Z", strategy: Date.iso8601Style)
      #expect(DateArgument.date(text, now: now, calendar: Self.berlin)?.iso8601 == expected)
    }

    @Test(
      "what is no moment", arguments: ["", "soon", "24:00", "12:60", "2026-02-30", "2026-11-21T25:00", "21.11.2026"])
    func noMoments(text: String) {
      #expect(DateArgument.date(text, now: Date(timeIntervalSince1970: 0), calendar: Self.berlin) == nil)
    }

    @Test("what could do something to a terminal is made visible")
    func controls() {
      #expect("a\u{1b}[31m\r\n\u{9b}\u{202e}b".withVisibleControls == #"a\x1b[31m\r\n\x9b\u{202e}b"#)
      #expect("a\n\tb\u{7}".withVisibleControls(keepingLines: true) == "a\n\tb\\x07")
      #expect("plain é 漢".withVisibleControls == "plain é 漢")
    }

    @Test("text is cut by the columns that it takes")
    func cut() {
      #expect("hello".cut(to: 5) == "hello")
      #expect("hello".cut(to: 4) == "hel…")
      #expect("漢字漢字".cut(to: 5) == "漢字…")
      #expect("hello".cut(to: 0) == "")
    }

    @Test(
      "text of the system keeps its bytes through JSON",
      arguments: [
        [0x70, 0x6c], [0xff, 0x01, 0x80], [], [0x65, 0xcc, 0x81],
      ] as [[UInt8]])
    func systemText(bytes: [UInt8]) throws {
      let text = SystemText(bytes: bytes)
      let data = try JSONEncoder().encode([text])
      #expect(try JSONDecoder().decode([SystemText].self, from: data).first?.bytes == bytes)
    }

    @Test("each Ctrl-C after a demand is more urgent; one SIGTERM, and no demand after it, is a good end")
    func stopDemands() {
      var demands = StopDemands()
      #expect(!demands.wasAsked && !demands.isOrderly)
      #expect(demands.ask(SIGTERM, .zero) == .stop)
      #expect(demands.wasAsked && demands.isOrderly)
      #expect(demands.ask(SIGINT, .zero) == .endAll)
      #expect(!demands.isOrderly)
      #expect(demands.ask(SIGINT, .zero) == .exit)
      var other = StopDemands()
      #expect(other.ask(SIGINT, .zero) == .stop)
      #expect(other.wasAsked && !other.isOrderly)
    }

    @Test("what a terminal or a session that ends tells twice is one demand; SIGTERM a second later is another")
    func repeatedDemands() {
      var demands = StopDemands()
      #expect(demands.ask(SIGHUP, .zero) == .stop)
      #expect(demands.ask(SIGHUP, .seconds(60)) == nil)
      #expect(demands.ask(SIGTERM, .seconds(60)) == nil)
      #expect(demands.ask(SIGTERM, .seconds(60)) == nil)
      #expect(demands.ask(SIGTERM, .seconds(61)) == .endAll)
      var session = StopDemands()
      #expect(session.ask(SIGTERM, .zero) == .stop)
      #expect(session.ask(SIGHUP, .zero) == nil)
      #expect(session.isOrderly)
    }

    @Test("each 'work stop' is the same demand to a worker in the background, however late it comes; Ctrl-C is another")
    func demandsInBackground() {
      var demands = StopDemands(isInBackground: true)
      #expect(demands.ask(SIGTERM, .zero) == .stop)
      #expect(demands.ask(SIGTERM, .seconds(60)) == nil)
      #expect(demands.isOrderly)
      #expect(demands.ask(SIGINT, .seconds(60)) == .endAll)
    }
  }
#endif
