#if Shell
  import Foundation
  import Testing

  @Suite("--deadline")
  struct DeadlineTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("gives up a command that runs beyond it, and does not try again")
    func running() async throws {
      let id = try await durable.add("--deadline", "1s", "--max-attempts", "5", "--", "sleep", "1000")
      _ = try await durable("work", "--drain")
      #expect(try await durable.state(id) == "failed")
      #expect(try await durable.message(id).contains("its deadline has passed"))
    }

    @Test(
      "is no time before the start",
      arguments: [["--at", "2099-01-02T08:00", "--deadline", "1h"], ["--delay", "2h", "--deadline", "1h"]])
    func beforeStart(words: [String]) async throws {
      let schedule = try await durable.run(
        (["schedule", "add", "x", "@daily"] + words + ["--", "true"]).map { Array($0.utf8) })
      #expect(schedule.status == .exited(2))
      let refused = try await durable.run((["add"] + words + ["--", "true"]).map { Array($0.utf8) })
      #expect(refused.status == .exited(2) && refused.stderr.contains("be given up before"), "\(refused)")
      let id = try await durable.add("--deadline", "1h", "--", "true")
      let edited = try await durable.run((["edit", "\(id)"] + words.prefix(2)).map { Array($0.utf8) })
      #expect(edited.status == .exited(2) && edited.stderr.contains("job \(id) would start at "), "\(edited)")
      #expect(try await durable.state(id) == "ready")
    }

    @Test("is told by a worker that finds it passed, in local time")
    func found() async throws {
      let id = try await durable.add("--deadline", "0.001s", "--", "echo", "x")
      let told = try await durable("work", "--drain", environment: ["TZ": "Asia/Kolkata"])
      #expect(told.status == .exited(1))
      let line = try #require(
        told.text.firstMatch(of: /failed  echo x  its deadline has passed: .* by (.*)\n/), "\(told.text)")
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      let due = try style.parse(#require(try await durable.job(id)["deadline"] as? String))
      var clock = Calendar(identifier: .gregorian)
      clock.timeZone = try #require(TimeZone(identifier: "Asia/Kolkata"))
      let time = clock.dateComponents([.minute, .second], from: due)
      #expect(line.output.1.hasSuffix(String(format: ":%02d:%02d", time.minute!, time.second!)), "\(line.output)")
      for words in [["status"], ["show", "\(id)"], ["explain", "\(id)"]] {
        let text = try await durable.run(words.map { Array($0.utf8) }, environment: ["TZ": "Asia/Kolkata"]).text
        #expect(text.contains(line.output.1), "\(text)")
      }
    }

    @Test("ends what follows a job that can't begin")
    func followed() async throws {
      let followed = try await durable("add", "--follow", "--deadline", "1s", "--after", "nobody", "--", "true")
      #expect(followed.status == .exited(1))
      #expect(followed.stderr.contains("its deadline has passed"))
    }

    @Test("that has passed is refused, and nothing is added", arguments: ["2001-01-01T00:00Z", "0", "0s"])
    func past(text: String) async throws {
      for arguments in [
        ["add", "--deadline", text, "--", "true"], ["get", "--deadline", text, "http://127.0.0.1:9/"],
      ] {
        let refused = try await durable.run(arguments.map { Array($0.utf8) })
        #expect(refused.status == .exited(2))
        #expect(refused.stderr.contains("--deadline"))
      }
      #expect(try await durable.add("--", "true") == 1)
    }

    @Test("that is no time is refused, and nothing is added")
    func noTime() async throws {
      let refused = try await durable("add", "--deadline", "soon", "--", "true")
      #expect(refused.status == .exited(2))
      #expect(refused.stderr.contains("soon"))
      #expect(try await durable.add("--", "true") == 1)
    }
  }
#endif
