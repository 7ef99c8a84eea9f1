#if Shell
  import Foundation
  import Testing

  @Suite("The demo", .timeLimit(.minutes(2)))
  struct DemoTests {
    @Test("two workers are killed at work, nothing is missing, and nothing is left behind")
    func demo() async throws {
      let durable = try Durable()
      let demo = try await durable("demo", environment: ["TMPDIR": durable.folder])
      #expect(demo.status == .exited(0), "\(demo.stderr)")
      #expect(demo.text.matches(of: /(?m)^kill -9 \d+/).count == 2)
      #expect(demo.text.contains("Nothing is missing."))
      #expect(!demo.text.contains("\u{1b}"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.folder) == [])
    }

    @Test("a demo whose reader goes leaves nothing behind either")
    func closed() async throws {
      let durable = try Durable()
      let demo = try await durable.shell("\"$DURABLE\" demo | head -3; true", environment: ["TMPDIR": durable.folder])
      #expect(demo.text.split(separator: "\n").count == 3)
      #expect(try FileManager.default.contentsOfDirectory(atPath: durable.folder) == [])
    }
  }
#endif
