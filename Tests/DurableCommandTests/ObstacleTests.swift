#if Shell
  import Console
  import DurableJobs
  import Foundation
  import Testing

  @testable import DurableJobsSQLite
  @testable import durable

  @Suite("Words for what keeps a job, and for workers")
  struct ObstacleTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)
    private var later: Date { now + 60 }

    private let id = JobID(rawValue: 7)

    private func worker(
      _ standing: StoredWorker.Standing = .alive, queue: String = "q", kind: String = "command", runs: Bool = false
    ) -> StoredWorker {
      StoredWorker(
        process: 1, since: now, queues: [queue], kinds: [kind], jobs: runs ? [JobID(rawValue: 7)] : [],
        standing: standing)
    }

    @Test("the same reason at another time is no news, and another one is")
    func topics() {
      func again(_ time: Date, _ message: String) -> JobExplanation.Reason {
        .backOff(until: time, after: AttemptFailure(attempt: 1, at: time, message: message))
      }
      #expect(again(now, "no").topic == again(later, "no").topic)
      #expect(again(now, "no").topic != again(now, "never").topic)
      #expect(JobExplanation.Reason.start(now).topic == .start(later).topic)
      #expect(JobExplanation.Reason.needs(id, .ready, .ended).topic == .needs(id, .running, .ended).topic)
      #expect(JobExplanation.Reason.lane("l", id, .ready).topic != .lane("l", id, .failed).topic)
    }

    @Test("why a job was put off is what its handler said of that, and how often its process ended")
    func putOff() async throws {
      let durable = try Durable()
      let store = try await OpenStore(.file(durable.store), isMade: true)
      var job = JobSnapshot(id: id, queue: "q", kind: "k", state: .scheduled, createdAt: now)
      func cause(_ crashes: Int, _ message: String) -> String {
        job.crashes = crashes
        job.progress = JobProgress(fraction: 0, message: message)
        return JobExplanation.Reason.putOff(until: now, crashes: crashes).cause(in: store, of: job) { _ in "later" }
      }
      #expect(cause(0, "waits: no answer") == "was put off, and runs again later: no answer")
      #expect(cause(0, "no room") == "was put off, and runs again later: no room")
      #expect(cause(1, "half of it") == "was put off, and runs again later; 1 crash so far")
      #expect(cause(2, "waits: no answer") == "was put off, and runs again later: no answer; 2 crashes so far")
      await store.store.close()
    }

    @Test("a job whose worker died and that is to be cancelled does not run again")
    func troubles() {
      let running = JobSnapshot(id: id, queue: "q", kind: "k", state: .running, createdAt: now)
      var cancelled = running
      cancelled.stopAsked = .cancelled
      #expect(StoredWorker.Standing.dead.trouble(with: running) == "has died; the next worker runs it again")
      #expect(StoredWorker.Standing.dead.trouble(with: cancelled) == "has died; the next worker ends that")
    }

    @Test("workers in a line, the most first, and who does not answer last")
    func summary() {
      #expect(WorkerSummary([]).text == nil)
      #expect(WorkerSummary([worker(.dead)]).text == nil)
      var many = worker(queue: "b")
      many.queues.insert("a")
      many.kinds = ["5", "4", "3", "2", "1"]
      #expect(
        WorkerSummary([many, worker(), worker(.silent), worker()]).text
          == "2 on q (command), 1 on a and b (1, 2, 3, 4, …), process 1 does not answer")
    }

    @Test(
      "the nearest name",
      arguments: [
        ("statsu", "status"), ("satus", "status"), ("sta", "status"), ("statuss", "status"), ("x", nil), ("", nil),
        ("frobnicate", nil), ("retyr", "retry"), ("Status", "status"), ("adds", "add"),
      ] as [(String, String?)])
    func nearest(word: String, name: String?) {
      #expect(["add", "status", "suspend", "retry"].nearest(to: word) == name)
    }

    @Test(
      "passwords in URLs",
      arguments: [
        ("https://me:secret@host/x", "https://me:***@host/x"),
        ("see 'ftp://me:a@b:c@host' and http://t0ken@host", "see 'ftp://me:***@host' and http://***@host"),
        ("ssh://git@host/a@b", "ssh://git@host/a@b"), ("https://host/a:b@c", "https://host/a:b@c"),
        ("https://host:80/?q=a@b", "https://host:80/?q=a@b"), ("a@b:c", "a@b:c"), ("https://:p@h", "https://:***@h"),
        ("git+https://t0ken@h/x", "git+https://***@h/x"), ("postgres://t0ken@h/x", "postgres://***@h/x"),
        ("git+ssh://git@h/x", "git+ssh://git@h/x"), ("postgres://bob:a#p@db/shop", "postgres://bob:***@db/shop"),
        ("x postgres://bob:a?p/q@db/shop y", "x postgres://bob:***@db/shop y"), ("p://b:a@b#c@d/e", "p://b:***@d/e"),
        ("https://[::1]:80/a@b", "https://[::1]:80/a@b"), ("https://me:p@h/a@b", "https://me:***@h/a@b"),
        ("https://me:***@h/a#b@c", "https://me:***@h/a#b@c"), ("a://b:1#2@c", "a://b:***@c"),
        ("https://a@b:p@h/", "https://a@b:***@h/"), ("'https://me:it'\\''s\"@h'", "'https://me:***@h'"),
      ])
    func passwords(text: String, shown: String) { #expect(text.withoutPasswords == shown) }
  }
#endif
