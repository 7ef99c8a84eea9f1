#if Shell
  import Console
  import DurableJobs
  import Foundation
  import Testing

  @testable import DurableJobsSQLite
  @testable import durable

  @Suite("What keeps a job, and words for it")
  struct ObstacleTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)
    private var later: Date { now + 60 }

    private func job(_ state: JobState, _ change: (inout JobSnapshot) -> Void = { _ in }) -> JobSnapshot {
      var job = JobSnapshot(
        id: JobID(rawValue: 7), queue: "q", kind: "command", state: state, attempt: 1, maxAttempts: 3, createdAt: now)
      change(&job)
      return job
    }

    private func worker(
      _ standing: StoredWorker.Standing = .alive, queue: String = "q", kind: String = "command", runs: Bool = false
    ) -> StoredWorker {
      StoredWorker(
        process: 1, since: now, queues: [queue], kinds: [kind], jobs: runs ? [JobID(rawValue: 7)] : [],
        standing: standing)
    }

    private func obstacles(
      _ job: JobSnapshot, _ workers: [StoredWorker] = [], paused: Set<String> = [], here: Bool = false
    ) -> [Obstacle] {
      Obstacle.all(of: job, paused: paused, workers: workers, here: here, now: now)
    }

    @Test("a job that is ready waits for a worker that lives, on its queue, for its kind")
    func ready() {
      let ready = job(.ready)
      #expect(obstacles(ready) == [.noWorker(queue: "q")])
      #expect(obstacles(ready, [worker()]) == [])
      for useless in [worker(.dead), worker(.silent), worker(queue: "r"), worker(kind: "download")] {
        #expect(obstacles(ready, [useless]) == [.noWorker(queue: "q")])
      }
      #expect(obstacles(ready, here: true) == [])
    }

    @Test("a paused queue is what is told, whoever works")
    func paused() {
      #expect(obstacles(job(.ready), paused: ["q"]) == [.paused(queue: "q")])
      #expect(obstacles(job(.ready), [worker()], paused: ["q", "r"], here: true) == [.paused(queue: "q")])
      #expect(obstacles(job(.ready), [worker()], paused: ["r"]) == [])
    }

    @Test("a time that is ahead is told with what it was set for; one that has come is none")
    func times() {
      let first = job(.scheduled) { $0.runAt = later }
      #expect(obstacles(first, [worker()]) == [.early(until: later)])
      #expect(obstacles(first) == [.early(until: later), .noWorker(queue: "q")])
      let again = job(.scheduled) {
        ($0.runAt, $0.startedAt) = (later, now)
        $0.failures = [AttemptFailure(attempt: 1, at: now, message: "no")]
      }
      #expect(obstacles(again, [worker()]) == [.backOff(until: later, attempt: 1, of: 3, message: "no")])
      var snoozed = again
      snoozed.attempt = 0
      #expect(obstacles(snoozed, [worker()]) == [.snoozed(until: later)])
      #expect(obstacles(job(.scheduled) { $0.runAt = now }, [worker()]) == [])
    }

    @Test("the same obstacle at another time is no news, and another reason is")
    func topics() {
      func again(_ time: Date, _ message: String) -> Obstacle {
        .backOff(until: time, attempt: 1, of: 3, message: message)
      }
      #expect(again(now, "no").topic == again(later, "no").topic)
      #expect(again(now, "no").topic != again(now, "never").topic)
      #expect(Obstacle.snoozed(until: now).topic == Obstacle.snoozed(until: later).topic)
    }

    @Test("a running job waits only if its worker is dead and nobody is there to take it back")
    func running() {
      let running = job(.running)
      #expect(obstacles(running, [worker(runs: true)]) == [])
      #expect(obstacles(running, [worker(.dead, runs: true)]) == [.noWorker(queue: "q")])
      #expect(obstacles(running, [worker(.dead, runs: true)], here: true) == [.workerDied])
      #expect(obstacles(running, [worker(.dead, runs: true), worker(queue: "r")]) == [])
    }

    @Test("a job that has ended waits for nothing, and a suspended one for a person", arguments: JobState.allCases)
    func others(state: JobState) {
      if state.isFinished { #expect(obstacles(job(state), paused: ["q"]) == []) }
      let held = job(.suspended) { $0.reason = "not now" }
      #expect(obstacles(held, paused: ["q"]) == [.suspended(reason: "not now")])
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
