import DurableJobs
import DurableJobsPostgres
import Foundation

/// One run on a server, through the public API. Prints one number; `scripts/run-postgres` makes a table of them.
///
///     bench-postgres CONNECTION enqueue N          one call after the other: a second
///     bench-postgres CONNECTION fill N             nothing; leaves N jobs that are ready later in order, due tomorrow, done and strange
///     bench-postgres CONNECTION drain N [SLOTS]    jobs that were stored beforehand: a second
///     bench-postgres CONNECTION start N            from the call in one store to the handler of another: the median in milliseconds
///     bench-postgres CONNECTION both N             stores and works off at the same time: a second
///     bench-postgres CONNECTION steady N           the same, and removes what is done
struct Noop: Job {
  var account = "c-0012345678"
  var index: Int
  var isUrgent = false
  var note = "abcdefghijklmnopqrstuvwx"
  var rank = 1
  static let kind = "noop"
  func run(in context: JobContext) async throws {}
}

struct Stranger: JobPayload {
  var index: Int
  static let kind = "stranger"
}

struct Ping: JobPayload {
  var sentAt: Int
  static let kind = "ping"
}

func nanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func rate(_ count: Int, since start: Int) -> String {
  String(format: "%.0f", Double(count) / (Double(nanoseconds() - start) / 1e9))
}

struct WrongResult: Error { let text: String }

func open() async throws -> JobQueue {
  JobQueue(store: try await PostgresStore(CommandLine.arguments[1]))
}

func fill(_ queue: JobQueue, _ count: Int, options: JobOptions = JobOptions()) async throws {
  for first in stride(from: 0, to: count, by: 1000) {
    try await queue.enqueue(contentsOf: (first..<min(first + 1000, count)).map { Noop(index: $0) }, options: options)
  }
}

func enqueue(_ count: Int) async throws {
  let queue = try await open()
  try await queue.enqueue(Noop(index: 0))
  let start = nanoseconds()
  for index in 1...count { try await queue.enqueue(Noop(index: index)) }
  print(rate(count, since: start))
}

func fillBeside(_ count: Int) async throws {
  let queue = try await open()
  let quarter = count / 4
  try await fill(queue, quarter, options: JobOptions(priority: .low))
  try await fill(queue, quarter, options: JobOptions(start: .after(.seconds(86400))))
  for first in stride(from: 0, to: quarter, by: 1000) {
    try await queue.enqueue(contentsOf: (first..<min(first + 1000, quarter)).map { Stranger(index: $0) })
  }
  try await fill(queue, quarter, options: JobOptions(tags: ["finished"]))
  try await queue.cancelAll(where: .tag("finished"))
}

/// Ends when so many have begun: others may be left.
func drain(_ count: Int, slots: Int) async throws {
  let queue = try await open()
  let before = try await queue.counts()
  try await fill(queue, count)
  let (began, continuation) = AsyncStream<Void>.makeStream()
  let worker = JobWorker(queue, maxConcurrentJobs: slots)
  worker.register(Noop.self) { _, _ in continuation.yield() }
  let start = nanoseconds()
  worker.start()
  var left = count
  for await _ in began {
    left -= 1
    if left == 0 { break }
  }
  let line = rate(count, since: start)
  await worker.stop()
  guard try await queue.counts()[.succeeded] - before[.succeeded] >= count else {
    throw WrongResult(text: "not all succeeded")
  }
  print(line)
}

/// Two stores, each with connections of its own: what one stores, the other hears of by a notice alone.
func start(_ count: Int) async throws {
  let (queue, other) = (try await open(), try await open())
  let (delays, continuation) = AsyncStream<Int>.makeStream()
  let worker = JobWorker(other)
  worker.register(Ping.self) { ping, _ in continuation.yield(nanoseconds() - ping.sentAt) }
  worker.start()
  var all: [Int] = []
  var arrivals = delays.makeAsyncIterator()
  for number in 0...count {
    try await queue.enqueue(Ping(sentAt: nanoseconds()))
    guard let delay = await arrivals.next() else { break }
    if number > 0 { all.append(delay) }
    try await Task.sleep(for: .milliseconds(20))
  }
  await worker.stop()
  all.sort()
  print(String(format: "%.2f", Double(all[all.count / 2]) / 1e6))
}

func steady(_ count: Int, removes: Bool) async throws {
  let queue = try await open()
  let worker = JobWorker(queue, maxConcurrentJobs: 100)
  let (ended, continuation) = AsyncStream<Void>.makeStream()
  worker.register(Noop.self) { _, _ in continuation.yield() }
  let start = nanoseconds()
  worker.start()
  // At most a thousand wait at a time.
  var ahead = 0
  var arrivals = ended.makeAsyncIterator()
  for first in stride(from: 0, to: count, by: 100) {
    try await queue.enqueue(contentsOf: (first..<first + 100).map { Noop(index: $0) })
    ahead += 100
    while ahead > 900, await arrivals.next() != nil { ahead -= 1 }
  }
  try await queue.waitUntilIdle()
  await worker.stop()
  // As retention does, at once.
  let gone = removes ? try await queue.removeAll(where: .state(.succeeded)) : try await queue.counts()[.succeeded]
  guard gone == count else { throw WrongResult(text: "\(gone) of \(count) were done") }
  print(rate(count, since: start))
}

guard CommandLine.arguments.count >= 4, let count = Int(CommandLine.arguments[3]) else {
  print("bench-postgres CONNECTION enqueue|fill|drain|start|both|steady N [SLOTS]")
  exit(2)
}
switch CommandLine.arguments[2] {
case "enqueue": try await enqueue(count)
case "fill": try await fillBeside(count)
case "drain": try await drain(count, slots: CommandLine.arguments.dropFirst(4).first.flatMap(Int.init) ?? 100)
case "start": try await start(count)
case "both": try await steady(count, removes: false)
case "steady": try await steady(count, removes: true)
default: exit(2)
}
