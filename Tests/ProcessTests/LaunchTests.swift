#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// What is told of a command that could not be executed, or that says what it was given.
  @Suite struct LaunchTests {
    private func message(of words: [String], in place: Place) async throws -> String {
      let environment = ["PATH": "\(place.folder)/bin:/usr/bin:/bin"]
      let job = try await place.queue.enqueue(ShellCommand(words, in: place.folder, environment: environment))
      #expect(try place.work().wait() == .exited(0))
      return try #require(await job.snapshot.failures.last?.message)
    }

    private func write(_ text: String, to name: String, mode: mode_t, in place: Place) throws {
      try FileManager.default.createDirectory(atPath: place.folder + "/bin", withIntermediateDirectories: true)
      let path = place.folder + "/bin/" + name
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      try #require(chmod(path, mode) == 0)
    }

    @Test func `the value of a variable in place of the program is not told, however long it is`() async throws {
      let message = try await message(of: ["TOKEN=" + String(repeating: "s3cret", count: 50), "curl"], in: Place())
      #expect(message == "command not found: TOKEN=…; a variable is given with --env")
    }

    @Test func `nor is it if there is something of that name`() async throws {
      let place = try Place()
      try write("", to: "TOKEN=s3cret", mode: 0o600, in: place)
      #expect(try await message(of: ["TOKEN=s3cret"], in: place) == "TOKEN=… is not executable: Permission denied")
    }

    @Test func `of a script without its interpreter it is told that, also where PATH led to it`() async throws {
      let place = try Place()
      try write("#!/no/such/shell\n", to: "my-script", mode: 0o700, in: place)
      let why = "can't be run: what its first line names, or the loader that it needs, is not there"
      #expect(try await message(of: ["my-script"], in: place) == "my-script \(why)")
    }

    @Test(arguments: [
      ("swordfish99 ", "bad: swordfish99", "bad: ***"), ("a  b  swordfish", "bad: a b swordfish", "bad: ***"),
      (#"sword"fi\sh"#, #"{"bad": "sword\"fi\\sh"}"#, #"{"bad": "***"}"#), ("p@ss/word", "p%40ss%2Fword", "***"),
      ("short", "short", "short"), ("one line\nswordfish", "swordfish, one line", "***, ***"),
    ])
    func `what a command was given is hidden in its last line, however that spells it`(
      value: String, line: String, shown: String
    ) {
      #expect(ShellCommand(["true"], environment: ["TOKEN": value]).hidingValues(in: line) == shown)
    }

    @Test(arguments: [0, 1, 5, 10, 100])
    func `of a last line that is not stored whole no part of a value is left at its end`(before: Int) {
      let rest = String(repeating: "é", count: 20_000)
      let line = String(repeating: "-", count: Limits.messageBytes - before) + "swordfish" + rest
      let shown = ShellCommand(["true"], environment: ["TOKEN": "swordfish"]).hidingValues(in: line)
      #expect(shown.utf8.count <= Limits.messageBytes && shown.hasSuffix(" …"))
      #expect(!shown.contains("s") && shown.contains("***") == (before > 6), "\(shown.suffix(100))")
    }

    @Test func `of a last line that is mostly values as much is kept as of any other`() {
      let value = "x" + String(repeating: "y", count: Limits.messageBytes / 2)
      let line = String(repeating: value, count: 5) + String(repeating: "é", count: 20_000)
      let shown = ShellCommand(["true"], environment: ["TOKEN": value]).hidingValues(in: line)
      #expect(shown.hasPrefix("***") && shown.hasSuffix("é …"))
      #expect((Limits.messageBytes - 8...Limits.messageBytes).contains(shown.utf8.count), "\(shown.utf8.count)")
    }
  }
#endif
