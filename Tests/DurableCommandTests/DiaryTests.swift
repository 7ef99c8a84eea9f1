#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import Foundation
  import Testing

  @testable import durable

  @Suite("What a worker says of downloads")
  struct DiaryTests {
    private let download = Download(from: URL(string: "https://example.org/a")!, to: URL(fileURLWithPath: "/tmp"))
    private let file = DownloadedFile(path: "/tmp/a", size: 5, sha256: nil, modified: 0, wasThere: false)

    private func lines(_ events: [Downloader.Event]) -> [String] {
      var diary = DownloadDiary()
      let attempt = JobAttempt(job: JobID(rawValue: 1), queue: "default", number: 1, of: 20)
      return events.compactMap { diary.line(attempt, download, $0, now: .zero) }.map { "\($0.mark) \($0.detail)" }
    }

    @Test("that it waits for the same again and again is said once")
    func waiting() {
      let pair: [Downloader.Event] = [.began, .waits("another writes it", for: .seconds(2))]
      let other: [Downloader.Event] = [.began, .waits("no room", for: .seconds(10))]
      #expect(
        lines(pair + pair + pair + other + pair + [.began, .succeeded(file)] + pair) == [
          "start ", "waits 2 s: another writes it", "waits 10 s: no room", "waits 2 s: another writes it",
          "done 5 B in 0.0 s", "start ", "waits 2 s: another writes it",
        ])
    }

    @Test("what many downloads wait for is not remembered for ever, and then told once more")
    func many() {
      var diary = DownloadDiary()
      let most = Int64(RecentJobs<String>.most)
      let told = (Array(1...most) + [1, most, most + 1, 1, 1]).map { id in
        let attempt = JobAttempt(job: JobID(rawValue: id), queue: "default", number: 1, of: 20)
        return diary.line(attempt, download, .waits("another writes it", for: .seconds(2)), now: .zero) != nil
      }
      #expect(told == Array(repeating: true, count: Int(most)) + [false, false, true, true, false])
    }

    @Test("that other numbers of bytes are free is no news")
    func numbers() {
      let events: [Downloader.Event] = [100, 90].flatMap {
        [.began, .waits("no room: \($0) bytes are free", for: .seconds(10))]
      }
      #expect(lines(events) == ["start ", "waits 10 s: no room: 100 bytes are free"])
    }

    @Test("of a file that was there, it is said when it was fetched, and that its server was not asked")
    func wasThere() {
      func line(_ change: (inout DownloadedFile) -> Void) -> String? {
        var (diary, file) = (DownloadDiary(), file)
        file.wasThere = true
        change(&file)
        let attempt = JobAttempt(job: JobID(rawValue: 1), queue: "default", number: 1, of: 20)
        let date = Date(timeIntervalSince1970: 180)
        return [.began, .remarked("the server was not asked"), .succeeded(file)].compactMap {
          diary.line(attempt, download, $0, now: .zero, date: date)
        }.last.map { "\($0.title)  \($0.detail)" }
      }
      let unasked = "the server was not asked (--overwrite fetches it anew)"
      #expect(line { _ in } == "already there: a  fetched 3 min ago; \(unasked)")
      #expect(line { $0.hasServerTime = true } == "already there: a  \(unasked)")
    }

    @Test("what is waited for is told to programs without what may be a password")
    func waitsWithoutPasswords() throws {
      let attempt = JobAttempt(job: JobID(rawValue: 1), queue: "default", number: 1, of: 20)
      let event = JobEvent(attempt, download, .waits, .waits("http://kim:s3cret@h/ is away", for: .seconds(2)))
      let text = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
      #expect(text.contains("is away") && !text.contains("s3cret"), "\(text)")
    }

    @Test("a file that began anew, of another version, came from its beginning")
    func anew() {
      let file = DownloadedFile(path: "/tmp/a", size: 100, sha256: nil, modified: 0, wasThere: false)
      #expect(lines([.began, .goesOn(from: 500), .succeeded(file)]).last == "done 100 B in 0.0 s")
      #expect(
        lines([.began, .goesOn(from: 50), .received(10, of: 100), .succeeded(file)]).last == "done 100 B in 0.0 s")
      #expect(
        lines([.began, .goesOn(from: 50), .received(60, of: 100), .succeeded(file)]).last
          == "done 100 B, the last 50 B in 0.0 s")
      #expect(
        lines([.began, .received(10, of: 100), .goesOn(from: 50), .succeeded(file)]).last == "done 100 B in 0.0 s",
        "its connection broke")
    }

    @Test("what a file has not got is said when it is done")
    func remark() {
      #expect(
        lines([.began, .remarked("it has no time"), .succeeded(file)]).last?.hasSuffix("; it has no time") == true)
    }
  }
#endif
