#if Shell
  import DurableJobs
  import DurableJobsSQLite
  import Foundation
  import LyingServer
  import Testing

  @testable import durable

  @Suite("JSON")
  struct JSONTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    /// The keys of a line in their order, those of objects in it in brackets. Names of variables are anybody's.
    private func keys(_ line: some StringProtocol) -> String {
      let text = String(line).replacing(/"env":\{[^}]*\}/, with: "\"env\":{}")
      var keys = ""
      for match in text.matches(of: /"((?:[^"\\]|\\.)*)"(:?)|([{}\[\]])/) {
        if let bracket = match.3 {
          keys += bracket
        } else if match.2 == ":", let key = match.1 {
          keys += (keys.last?.isLetter == true ? " " : "") + key
        }
      }
      return keys
    }

    private static let job =
      "id queue kind key state priority attempt maxAttempts crashes timeout deadline createdAt runAt startedAt finishedAt "
      + "progress reason payload{arguments[]cwd env{}shell umask}output errors[]tags[]lane requires[]after[]cause worker"

    @Test("keys and their order")
    func order() async throws {
      let nothing = try await durable("status", "--json").line
      let counts = "ready scheduled blocked running suspended succeeded failed cancelled skipped"
      #expect(keys(nothing) == "{store jobs[]counts{\(counts)}paused[]limits[]constraints[]workers[]}")
      let added = try await durable(
        "add", "--json", "--key", "k", "--tag", "b", "--tag", "a", "--max-attempts", "2", "--", "false")
      #expect(keys(added.line) == "{\(Self.job)}")
      let ended = "id queue attempt maxAttempts command result mayBeRetried message seconds"
      let work = try await durable("work", "--drain", "--json").text.split(separator: "\n").map { keys($0) }
      let start = "{event id queue attempt maxAttempts command}"
      #expect(work == [start, "{event \(ended)}", start, "{event \(ended)}"])
      let failed = Self.job.replacing("errors[]", with: "errors[{message attempt at code}{message attempt at code}]")
      #expect(try await keys(durable("show", "1", "--json").line) == "{\(failed)}")
      #expect(try await keys(durable("wait", "1", "--json").line) == "[{\(failed)}]")
      #expect(
        try await keys(durable("status", "--json").line)
          == "{store jobs[{\(failed)}]counts{\(counts)}paused[]limits[]constraints[]workers[]}")
      #expect(try await keys(durable("retry", "1", "--json").line) == "{changed[]refused[]}")
      #expect(try await keys(durable("pause", "--json").line) == "{queue paused}")
      let log = try await durable("add", "--queue", "other", "--follow", "--json", "--", "echo", "x").text
        .split(separator: "\n").map { keys($0) }
      let succeeded = Self.job.replacing("output errors", with: "output{exitCode}errors")
      #expect(
        log == [
          "{event \(Self.job)}", "{event attempt run stream text}", "{event attempt run startedAt endedAt ending}",
          "{event \(succeeded)}",
        ])
    }

    @Test("keys of what is told of downloads, and their order")
    func downloads() async throws {
      let server = try await LyingServer()
      server.serve("/a.bin", .file(Content(1000)))
      let file = try await durable("get", "--json", "-o", durable.folder, server.url("/a.bin"))
      let begin = "event id queue attempt maxAttempts url"
      #expect(
        file.text.split(separator: "\n").prefix(2).map { keys($0) } == [
          "{\(begin)}", "{\(begin) result message path size wasThere}",
        ])
      let missing = try await durable("get", "--json", "-o", durable.folder, server.url("/b.bin"))
      #expect(
        missing.text.split(separator: "\n").prefix(2).map { keys($0) } == [
          "{\(begin)}", "{\(begin) result mayBeRetried message}",
        ])
    }

    @Test("a job's fields and what stands in them")
    func values() async throws {
      let added = try await durable(
        "add", "--json", "--timeout", "90", "--priority", "-3", "--cwd", "/", "--", "printf", "a\u{9b}\u{1}\"\\\n/é")
      let line = added.line.replacing(/"env":\{[^}]*\}/, with: "\"env\":{}").replacing(
        /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "TIME"
      ).replacing(/"umask":"\d+"/, with: "\"umask\":\"\"")
      #expect(
        line
          == #"{"id":1,"queue":"default","kind":"command","key":null,"state":"ready","priority":-3,"attempt":0,"#
          + #""maxAttempts":1,"crashes":0,"timeout":90.0,"deadline":null,"createdAt":"TIME","runAt":null,"startedAt":null,"#
          + #""finishedAt":null,"progress":null,"reason":null,"payload":{"arguments":["printf","#
          + "\"a\u{9b}\\u0001\\\"\\\\\\n/é\"],"
          + #""cwd":"/","env":{},"shell":false,"umask":""},"output":null,"errors":[],"tags":[],"lane":null,"requires":[],"after":[],"cause":null,"#
          + #""worker":null}"#)
    }

    @Test(
      "stored JSON is passed on as it is, in a line",
      arguments: [
        "[1e400,-1E+999]", "12345678901234567890123", #"{"a":1,"a":2}"#,
        "{\"z\":\"\u{2028}\u{2029}\u{85}\",\"a\":1.50}",
        #""\u0000\/é""#, "  [ ]  ", "null", #"["\ud800"]"#,
      ])
    func stored(payload: String) async throws {
      let store = try SQLiteStore(path: durable.store)
      _ = try await store.insert(JobInsertion([NewJob(queue: "q", kind: "odd", payload: Data(payload.utf8))]))
      await store.close()
      let line = try await durable("show", "1", "--json").line
      #expect(line.contains("\"payload\":\(payload),\"output\""), "\(line)")
    }

    @Test("line breaks between the tokens of stored JSON become spaces")
    func lines() async throws {
      let store = try SQLiteStore(path: durable.store)
      let payload = Data("{\r\n\t\"a\":\n1}".utf8)
      _ = try await store.insert(JobInsertion([NewJob(queue: "q", kind: "odd", payload: payload)]))
      await store.close()
      let text = try await durable("status", "--json").text
      #expect(text.contains("\"payload\":{  \t\"a\": 1},"), "\(text)")
      #expect(text.split(separator: "\n").count == 1)
    }

    @Test(
      "what is stored and no JSON is told as base64",
      arguments: [
        Array("[1,]".utf8), Array(#"{"a":1,}"#.utf8),
        Array(repeating: 0x5b, count: 300) + Array(repeating: 0x5d, count: 300),
        [0xff, 0xfe], Array("{\"a\":1.2.3}".utf8), Array("[01]".utf8), [0xef, 0xbb, 0xbf, 0x31], [0x31, 0], [],
      ]
        as [[UInt8]])
    func noJSON(payload: [UInt8]) async throws {
      let store = try SQLiteStore(path: durable.store)
      _ = try await store.insert(JobInsertion([NewJob(queue: "q", kind: "odd", payload: Data(payload))]))
      await store.close()
      let job = try await durable.job(1)
      #expect(job["payload"] as? [String: String] == ["base64": Data(payload).base64EncodedString()])
    }

    @Test(
      "what is JSON to the letter, and nothing else",
      arguments: [
        (["0", "-0.5e-7", "1E400", " true ", #""""#, #""\u00e9\ud800""#, "[]", "{}", #"{"a":[{},1],"a":null}"#], true),
        ([String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)], true),
        (["", " ", "01", "1.", ".5", "+1", "1e", "-", "tru", "nul", "truefalse", "1 2", "[1,]", "[,1]", "[1"], false),
        (
          [#"{"a":1,}"#, #"{"a"}"#, #"{a:1}"#, #"{"a":1]"#, "[}", "'a'", #""\x""#, #""\u12g4""#, #""a"#, "\"\n\""],
          false
        ),
        (["[1]//", "\u{feff}1", "NaN", "1\u{a0}", "]"], false),
      ])
    func grammar(texts: [String], isJSON: Bool) {
      for text in texts { #expect((JSONGrammar(text.utf8) != nil) == isJSON, "\(text.prefix(20))") }
    }

    @Test("what is no JSON is refused as an output, and as the body of a request")
    func refused() async throws {
      let id = try await durable.add("--", "true")
      #expect(try await durable("complete", "\(id)", "--output", "[1,]").status == .exited(2))
      #expect(
        try await durable("send", "POST", "http://127.0.0.1:1/", "--json-body", #"{"a":1,}"#).status == .exited(2))
      #expect(try await durable("complete", "\(id)", "--output", #""\ud800""#).status == .exited(0))
      #expect(try await durable("show", "\(id)", "--json").line.contains(#""output":"\ud800","#))
    }

    @Test("an output by hand may be a number that is too large for most")
    func output() async throws {
      let id = try await durable.add("--", "true")
      #expect(try await durable("complete", "\(id)", "--output", "1e400").status == .exited(0))
      #expect(try await durable("show", "\(id)", "--json").line.contains("\"output\":1e400,"))
    }
  }
#endif
