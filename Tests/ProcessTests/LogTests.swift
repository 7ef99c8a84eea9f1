#if Process
  import DurableJobs
  import Foundation
  import Testing

  @testable import DurableJobsProcess

  @Suite struct LogTests {
    private let folder: String
    private var path: String { folder + "/1.stdout" }

    init() throws {
      folder = FileManager.default.temporaryDirectory.path + "/durable-log-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func append(_ count: Int, _ byte: Character, to log: inout CappedLog) {
      [UInt8](repeating: byte.asciiValue!, count: count).withUnsafeBytes { log.append($0) }
    }

    @Test func `the last line of a log is whole, or none`() {
      var log = CappedLog(path: path)
      func say(_ text: String) { Data(text.utf8).withUnsafeBytes { log.append($0) } }
      say("first\nlast")
      #expect(log.lastLine == "last")
      say("\n")
      append(CappedLog.mostOfLine, "a", to: &log)
      #expect(log.lastLine == String(repeating: "a", count: CappedLog.mostOfLine), "however it came")
      append(1, "a", to: &log)
      #expect(log.lastLine == nil, "its beginning is missing")
      say(" end\nnext\n")
      #expect(log.lastLine == "next")
      say("sleep: unrecognized option '--json'\nTry 'sleep --help' for more information.\n")
      #expect(log.lastLine == "sleep: unrecognized option '--json'")
      say("durable: 'x' is no URL\nSee 'durable get --help' for more information.\n")
      #expect(log.lastLine == "durable: 'x' is no URL")
      say("Try again\n")
      #expect(log.lastLine == "Try again")
      var parts = CappedLog(path: folder + "/1.stderr")
      for _ in 0..<5 { append(1000, "a", to: &parts) }
      #expect(parts.lastLine == String(repeating: "a", count: 5000))
      for _ in 5..<CappedLog.mostOfLine / 1000 + 1 { append(1000, "a", to: &parts) }
      #expect(parts.lastLine == nil)
    }

    @Test func `room beyond all numbers is room`() {
      var disk = statvfs()
      (disk.f_frsize, disk.f_blocks, disk.f_bavail) = (4096, 1000, 200)
      #expect(CappedLog.hasRoom(for: 200 * 4096 - 512_000, on: disk))
      #expect(!CappedLog.hasRoom(for: 200 * 4096 - 511_999, on: disk))
      for unit in [1, 4096] as [UInt] {
        (disk.f_frsize, disk.f_blocks, disk.f_bavail) = (.init(unit), .max, .max)
        #expect(CappedLog.hasRoom(for: 1 << 40, on: disk))
      }
    }

    /// What a reader is told, with equal bytes and neighbours taken together: "a × 10, 5 left out".
    private func story(_ reader: inout CommandLogReader) -> String {
      var parts: [(what: String, count: Int)] = []
      while let part = reader.next() {
        switch part {
        case .leftOut(let count): parts.append(("left out", count))
        case .bytes(let data):
          var rest = data[...]
          while let first = rest.first {
            // The longest beginning of equal bytes, found by halves.
            var (least, most) = (1, rest.count)
            while least < most {
              let middle = (least + most + 1) / 2
              if rest.prefix(middle) == Data(repeating: first, count: middle) {
                least = middle
              } else {
                most = middle - 1
              }
            }
            let what = String(UnicodeScalar(first))
            if parts.last?.what == what { parts[parts.count - 1].count += least } else { parts.append((what, least)) }
            rest = rest.dropFirst(least)
          }
        }
      }
      return parts.map { "\($0.count) \($0.what)" }.joined(separator: ", ")
    }

    private func story() -> String {
      var reader = CommandLogReader(path: path)
      return story(&reader)
    }

    private func size() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
        sum + (try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.size] as? Int ?? 0)
      }
    }

    @Test func `who looks whether a lock is held keeps nobody from it, and who holds it does`() async throws {
      func opened() -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
      let (own, other) = (opened(), opened())
      let isOver = Lock(false)
      let looks = Lock(0)
      async let looked: Void = onThread {
        while !isOver.withLock({ $0 }) {
          if flock(other, LOCK_SH | LOCK_NB) == 0 { looks.withLock { $0 += 1 } }
          flock(other, LOCK_UN)
        }
      }
      var taken = 0
      while taken < 2000 || looks.withLock({ $0 }) < 2000 {
        #expect(try Descriptors.lock(own, "own"))
        flock(own, LOCK_UN)
        taken += 1
      }
      isOver.withLock { $0 = true }
      await looked
      #expect(try Descriptors.lock(other, "other"))
      #expect(try !Descriptors.lock(own, "own"))
      for file in [own, other] { close(file) }
    }

    @Test func `a short log is one file, and is read as it grows`() {
      var log = CappedLog(path: path)
      var reader = CommandLogReader(path: path)
      #expect(story(&reader) == "")
      append(3, "a", to: &log)
      #expect(story(&reader) == "3 a")
      append(2, "b", to: &log)
      log.finish()
      #expect(story(&reader) == "2 b")
      #expect(story() == "3 a, 2 b")
    }

    @Test func `of a long log the beginning and the end are kept, with the count of what is missing between`() throws {
      var log = CappedLog(path: path)
      append(CappedLog.half, "a", to: &log)
      for _ in 0..<20 { append(CappedLog.pieceSize, "b", to: &log) }
      append(10, "c", to: &log)
      log.finish()
      let kept = CappedLog.half - CappedLog.pieceSize
      let missing = 20 * CappedLog.pieceSize - kept
      #expect(story() == "\(CappedLog.half) a, \(missing) left out, \(kept) b, 10 c")
      #expect(try size() <= 2 * CappedLog.half)
    }

    @Test func `a reader that is overtaken is told how much it missed`() {
      var log = CappedLog(path: path)
      append(CappedLog.half, "a", to: &log)
      append(10, "b", to: &log)
      var reader = CommandLogReader(path: path)
      #expect(story(&reader) == "\(CappedLog.half) a, 10 b")
      append(6 * CappedLog.pieceSize, "c", to: &log)
      let kept = CappedLog.half - CappedLog.pieceSize + 10
      #expect(story(&reader) == "\(6 * CappedLog.pieceSize - kept) left out, \(kept) c")
    }

    @Test func `a run whose record can't be read keeps its number, and its logs`() throws {
      let job = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 1))
      try job.create()
      #expect(try job.beginRun(attempt: 1).number == 1)
      try Data("one".utf8).write(to: URL(filePath: job.log(1, .stdout)))
      try Data("{".utf8).write(to: URL(filePath: job.path + "/1.run"))
      #expect(try job.beginRun(attempt: 1).number == 2)
      #expect(job.runs(of: nil).map(\.number) == [2])
      #expect(FileManager.default.contents(atPath: job.log(1, .stdout)) == Data("one".utf8))
    }

    @Test func `a run whose record can't be written does not begin, and leaves nothing`() throws {
      // The record is written beside itself first, under a longer name, and there is no room for that in a path.
      var store = folder
      while store.utf8.count < 3800 { store += "/" + String(repeating: "d", count: 200) }
      store += "/" + String(repeating: "d", count: 4085 - "-jobs/1/1.run".utf8.count - store.utf8.count - 1)
      let job = JobFolder(store: store, id: JobID(rawValue: 1))
      try job.create()
      #expect { try job.beginRun(attempt: 1) } throws: { "\($0)".contains("can't write into") }
      #expect(try FileManager.default.contentsOfDirectory(atPath: job.path) == [])
    }

    @Test func `of many runs the last are kept, and their numbers go on`() throws {
      let job = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 1))
      try job.create()
      for number in 1...JobFolder.mostRuns + 3 {
        #expect(try job.beginRun(attempt: 1).number == number)
        for stream in LogStream.allCases { try Data("x".utf8).write(to: URL(filePath: job.log(number, stream))) }
      }
      #expect(job.runs(of: nil).map(\.number) == Array(4...JobFolder.mostRuns + 3))
      #expect(try FileManager.default.contentsOfDirectory(atPath: job.path).count == 3 * JobFolder.mostRuns)
    }

    @Test func `runs of an earlier job of the same number are not told, and go when the new one's first begins`() throws
    {
      let folder = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 1))
      try folder.create()
      func job(_ second: Int64) -> JobSnapshot {
        JobSnapshot(
          id: JobID(rawValue: 1), queue: "q", kind: ShellCommand.kind, state: .running,
          createdAt: Date(milliseconds: 1000 * second))
      }
      #expect(try folder.beginRun(attempt: 1, jobCreatedAt: job(1).createdAt).number == 1)
      try Data("secret".utf8).write(to: URL(filePath: folder.log(1, .stdout)))
      #expect(folder.runs(of: job(2)).isEmpty)
      #expect(folder.runs(of: job(1)).map(\.number) == [1])
      #expect(try folder.beginRun(attempt: 1, jobCreatedAt: job(2).createdAt).number == 2)
      #expect(folder.runs(of: job(2)).map(\.number) == [2])
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["2.run"])
    }

    @Test func `numbers that no run can have are nobody's`() throws {
      let job = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 1))
      try job.create()
      try Data().write(to: URL(filePath: job.path + "/\(Int.max).run"))
      #expect(try job.beginRun(attempt: 1).number == 1)
    }

    @Test
    func
      `a user's own files are neither deleted nor taken for runs, and a folder that was made otherwise is left alone`()
      throws
    {
      let job = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 1))
      try job.create()
      let users = [
        "lock.json", "locks", "3.run.txt", "3.txt", "03.run", "-1.run", "4.stdout.log", "4.run.5", "5.stderr.",
        ".dat.nosync",
        ".dat.nosync-mine", "stdout", "6.Run",
      ].sorted()
      for name in users { try Data("x".utf8).write(to: URL(filePath: job.path + "/" + name)) }
      for number in 1...JobFolder.mostRuns + 5 { #expect(try job.beginRun(attempt: 1).number == number) }
      #expect(!job.removeIfFree())
      #expect(try FileManager.default.contentsOfDirectory(atPath: job.path).sorted() == users)

      let other = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 2))
      try FileManager.default.createDirectory(
        atPath: other.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      try Data("x".utf8).write(to: URL(filePath: other.path + "/1.run"))
      let link = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 3))
      chmod(other.path, 0o700)
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: other.path)
      #expect(!link.removeIfFree())
      chmod(other.path, 0o755)
      #expect(!other.removeIfFree())
      #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["1.run"])
    }

    @Test(arguments: [false, true])
    func `of a job that is gone only what is the project's own goes`(isShared: Bool) throws {
      let job = JobFolder(store: folder + "/jobs", id: JobID(rawValue: 1))
      try job.create()
      let own = ["1.run", "1.stdout", "1.stderr.5242880", "1.stdout.read", "lock", "lock.supervisor"]
      for name in own + (isShared ? ["report.txt"] : []) {
        try Data("x".utf8).write(to: URL(filePath: job.path + "/" + name))
      }
      #expect(job.removeIfFree() == !isShared)
      #expect((try? FileManager.default.contentsOfDirectory(atPath: job.path)) == (isShared ? ["report.txt"] : nil))
    }

    @Test func `what could not be noted of a follower's place is noted when it can`() throws {
      var log = CappedLog(path: path, isFollowed: true)
      append(CappedLog.half + 1, "a", to: &log)
      var reader = CommandLogReader(path: path)
      _ = story(&reader)
      let note = CappedLog.followerNote(path)
      try FileManager.default.createDirectory(atPath: note, withIntermediateDirectories: false)
      try Data().write(to: URL(filePath: note + "/x"))
      reader.tellFollowed()
      try FileManager.default.removeItem(atPath: note)
      reader.tellFollowed()
      #expect(FileManager.default.contents(atPath: note) == Data("\(CappedLog.half + 1)".utf8))
    }

    @Test func `an end for which no file can be made any more is counted`() throws {
      var log = CappedLog(path: path)
      append(CappedLog.half, "a", to: &log)
      for position in [0, 70] {
        try FileManager.default.createSymbolicLink(
          atPath: CappedLog.piece(path, CappedLog.half + position), withDestinationPath: folder + "/none/none")
      }
      append(70, "b", to: &log)
      log.finish()
      #expect(story() == "\(CappedLog.half) a, 70 left out")
    }

    /// What is written to a name that leads to /dev/full finds no room.
    private func fill(_ name: String) throws {
      try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: "/dev/full")
    }

    @Test(.enabled(if: access("/dev/full", W_OK) == 0, "needs /dev/full"))
    func `what a full disk did not take is counted where it is missing, once there is room again`() throws {
      var log = CappedLog(path: path)
      append(CappedLog.half, "a", to: &log)
      try fill(CappedLog.piece(path, CappedLog.half))
      append(70, "b", to: &log)
      append(30, "c", to: &log)
      append(CappedLog.pieceSize, "d", to: &log)
      append(1, "e", to: &log)
      log.finish()
      #expect(story() == "\(CappedLog.half) a, 70 left out, 30 c, \(CappedLog.pieceSize) d, 1 e")
    }

    @Test(.enabled(if: access("/dev/full", W_OK) == 0, "needs /dev/full"))
    func `an end that a full disk did not take is counted too`() throws {
      try fill(path)
      var log = CappedLog(path: path)
      append(70, "a", to: &log)
      #expect(story() == "", "nobody knows yet whether more follows")
      log.finish()
      #expect(story() == "70 left out")
      #expect(log.lastLine == String(repeating: "a", count: 70))
    }

    @Test(.enabled(if: access("/dev/full", W_OK) == 0, "needs /dev/full"))
    func `a disk that stays full does not cost what was kept before`() throws {
      var log = CappedLog(path: path)
      append(CappedLog.half + 2 * CappedLog.pieceSize, "a", to: &log)
      for number in 0..<20 {
        try fill(CappedLog.piece(path, CappedLog.half + 2 * CappedLog.pieceSize + number))
        append(1, "b", to: &log)
      }
      log.finish()
      #expect(story() == "\(CappedLog.half + 2 * CappedLog.pieceSize) a, 20 left out")
    }
  }
#endif
