#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import LyingServer
  import TestProcesses
  import Testing

  @testable import durable

  /// What has a file's name is the file, whatever its server did and whoever died on the way.
  @Suite("durable get under kills, from a server that lies", .serialized)
  struct GetKillTests {
    /// One of its files: what the server had before, and what it has in the end.
    private struct File {
      let name: String
      let versions: [Content]
      let isSummed: Bool

      var sum: String { SHA256.hash(data: Data(versions[1].bytes)).map { String(format: "%02x", $0) }.joined() }
    }

    /// How often both are killed in a round.
    private static let kills = 6
    /// One of either kind, or a kill of each for ten of what `DURABLE_KILLS` says.
    private static let rounds = max(
      1, ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init).map { $0 / (10 * kills) } ?? 1)
    /// How often the server lies of each.
    private static let lies = 2

    let durable: Durable
    let server: LyingServer

    init() async throws {
      durable = try Durable()
      server = try await LyingServer()
      try FileManager.default.createDirectory(atPath: durable.folder + "/out", withIntermediateDirectories: false)
    }

    private func answer(_ version: Int, of file: File) -> LyingAnswer {
      .file(file.versions[version], etag: "\"\(version)\"")
    }

    /// Something that is not the whole file, or not said to be.
    private func lie(of file: File) -> LyingAnswer {
      let isSummed = file.isSummed
      let version = isSummed ? 1 : Int.random(in: 0...1)
      let honest = answer(version, of: file)
      let size = file.versions[version].size
      let place = Int64.random(in: 0...size)
      return switch Int.random(in: 0..<16) {
      case 0: .page(200)
      case 1: .page(503)
      case 2: .redirect(to: "/there/\(file.name)")
      case 3: .hangUp
      case 4: .reset
      // Under the file's own tag, one of two lengths would be refused for as long as there are attempts.
      case 5: honest.framed(.lengthOff(by: 1 + place)).with("ETag", "\"other\"")
      case 6: honest.framed(.chunkedCut)
      case 7: honest.ranges(.shifted(Bool.random() ? -10 : 10))
      case 8: honest.ranges([.multipart, .multipartWithRange, .unsaid, .ignored].randomElement()!)
      case 9: honest.ranges(.ofTotal(size + 5))
      case 10: honest.ranges(.lengthOff(by: 3))
      case 11: honest.ranges(.refused(tellingSize: .random()))
      case 12: honest.ranges(.atMost(1000))
      case 13: honest.ignoringIfRange().cut(after: place)
      default: honest.cut(after: place)
      }
    }

    private func serve(_ number: Int) -> File {
      let size = Int64.random(in: 0..<8) == 0 ? Int64.random(in: 256_001...900_000) : .random(in: 0...60_000)
      let seed = UInt64(2 * number)
      let other = Bool.random() ? size : .random(in: 0...60_000)
      let file = File(
        name: "\(number).bin", versions: [Content(other, seed: seed), Content(size, seed: seed + 1)],
        isSummed: number % 5 == 0)
      server.serve("/\(file.name)", (0..<Self.lies).map { _ in lie(of: file) } + [answer(1, of: file)])
      // The same tag, and another file.
      server.serve("/there/\(file.name)", answer(file.isSummed ? 1 : 0, of: file).with("ETag", "\"1\""))
      return file
    }

    /// Each file that has its name is one that the server had.
    private func check(_ files: [File]) throws {
      for file in files {
        let path = "\(durable.folder)/out/\(file.name)"
        guard FileManager.default.fileExists(atPath: path) else { continue }
        let isRight = try file.versions.suffix(file.isSummed ? 1 : 2).contains {
          try $0.firstDifference(inFileAt: path) == nil
        }
        #expect(isRight, "\(file.name)")
      }
    }

    /// Who has failed says that another file has the name, as the other get may have brought one of another version.
    private func failures(_ outcome: Durable.Outcome) -> (names: Set<String>, others: [Substring]) {
      let words = "is there already; move it away"
      let lines = outcome.stderr.split(separator: "\n").filter { $0.hasPrefix("durable: ") }
      let names = lines.filter { $0.contains(words) }.compactMap {
        $0.dropFirst("durable: ".count).split(separator: ":").first
      }
      return (Set(names.map(String.init)), lines.filter { !$0.contains(words) })
    }

    @Test(
      "two at once, two hundred files, killed six times: each that is done is right",
      arguments: 1...rounds, [false, true])
    func torture(round: Int, hasTwoStores: Bool) async throws {
      let files = (0..<200).map { serve($0) }
      let list = files.map { file in
        server.url("/\(file.name)") + (file.isSummed ? "\n  checksum=sha-256=\(file.sum)" : "")
      }
      try Data(list.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: durable.folder + "/list.txt"))
      let stores = hasTwoStores ? ["one.sqlite", "two.sqlite"] : ["one.sqlite", "one.sqlite"]
      /// Killed after so many requests of anybody, if that is given.
      @Sendable func fetch(_ store: String, _ requests: Int? = nil) async throws -> Durable.Outcome {
        let before = server.exchanges.count
        return try await durable.get(
          ["--store", "\(durable.folder)/\(store)", "-o", "out", "-i", "list.txt", "--concurrency", "16"]
        ) { [server] process in
          guard let requests else { return }
          // Who has ended by itself makes no more.
          await until {
            server.exchanges.count >= before + requests || isZombie(process) || kill(process, 0) != 0
          }
          kill(process, SIGKILL)
        }
      }
      var killed = 0
      for _ in 0..<Self.kills {
        // There are more requests to make than these; but on a busy machine who is to be killed may have made all by then.
        async let one = fetch(stores[0], .random(in: 1...40))
        async let two = fetch(stores[1], .random(in: 1...40))
        for outcome in [try await one, try await two] {
          if outcome.status == .signaled(SIGKILL) { killed += 1 } else { #expect(failures(outcome).others.isEmpty) }
        }
        try check(files)
      }
      #expect(killed >= Self.kills)
      async let one = fetch(stores[0])
      async let two = fetch(stores[1])
      let outcomes = [try await one, try await two]
      try check(files)
      let failed = outcomes.map(failures)
      for (outcome, failed) in zip(outcomes, failed) {
        #expect(failed.others.isEmpty)
        #expect(outcome.status == .exited(failed.names.isEmpty ? 0 : 1), "\(outcome.stderr)")
        // One store brings each of them once.
        if !hasTwoStores { #expect(failed.names.isEmpty) }
      }
      let names = Set(try FileManager.default.contentsOfDirectory(atPath: durable.folder + "/out"))
      let wanted = Set(files.map(\.name))
      #expect(wanted.isSubset(of: names))
      // What came for one whose name was taken meanwhile is kept.
      let kept = failed.flatMap(\.names).flatMap { name in
        ["", "~new"].flatMap { ["\(name)\($0).part", "\(name)\($0).part.json"] }
      }
      // Of two stores, a kill may leave a part that neither knows.
      if !hasTwoStores { #expect(names.subtracting(wanted).subtracting(kept).isEmpty) }
    }
  }
#endif
