import Foundation
import Testing

/// `docs/articles.md` takes five texts part by part: each name of theirs stands there, and what it becomes is in the code.
@Suite struct ArticleTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// What the texts call their parts, in their order.
  private static let names: [[String]] = [
    [
      "taskId", "status", "init, running, suspend, finish, fail, remove", "priority", "low (default), middle, high",
      "customId", "customType", "className", "data", "runCount", "run()", "prepareForAddToQueue()", "suspend()",
      "pop()",
      "fail()", "retryNextTime()", "retry", "remove()", "shareInstance", "addTask:", "runNextTask", "runingTask",
      "suspendTasks", "taskSignal", "resetAllTasks", "retryAllFailTasks", "deleteTaskWithClassName:customId:",
      "getTasksClassName:", "…customId:", "…status:", "isAllTaskFinish", "WCDB", "@synchronized",
    ],
    [
      "Queue: NSOperationQueue", "QueueTask: NSOperation", "queueName", "maxConcurrency = 1", "maxRetries = 5",
      "serializationProvider", "logProvider", "taskCallbacks[taskType]", "runTask", "taskID", "taskType", "retries",
      "created", "started", "userInfo", "addOperation", "taskList", "reload at launch", "dependencies between tasks",
      "retries by itself", "held until the network is back",
    ],
    [
      "closure, delegate, target-action, notification", "RxSwift: create", "onNext", "map", "subscribe", "firstly",
      ".then", ".done", "promise", "pending or resolved", "an error skips to the end", "Operation",
      "the result of the one before can't be had",
    ],
    [
      "DownloadTask(identifier:stateUpdateHandler:)", "pending", "inProgress(percent)", "completed",
      "5, 20, 40, 60, 80 %", "1 to 3 s at random", "DispatchSemaphore(value: maxAsyncTasks)", "group.enter", "leave",
      "group.notify(queue: .main)", "Job count", "Max concurrent", "Random time", "Start", "all disabled while it runs",
      "completed with the newest on top", "Info: all download tasks have been completed", "100 downloads, 10 at a time",
    ],
    [
      "NSOperationQueue", "serial or concurrent", "priority", "many queues", "KVC, KVO", "thread safety",
      "SYNQueue(queueName:maxConcurrency:maxRetries:logProvider:serializationProvider:completionBlock:)",
      "completionBlock", "SYNQueueSerializationProvider", "SYNQueueLogProvider",
      "SYNQueueTask(queue:taskID:taskType:dependencyStrs:data:)", "t2.addDependency(t1)", "addOperation(t2)",
      "addOperation(t1)", "exponential back-off", "all tasks must be idempotent",
      "we only remove the serialized task after it has completed",
    ],
  ]

  private struct Row {
    let there, here, place: String
  }

  /// The rows of the article's table.
  private static func rows(_ number: Int) throws -> [Row] {
    let sections = try text("docs/articles.md").components(separatedBy: "\n## ").dropFirst()
    let section = sections[sections.startIndex + number]
    return section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
      let cells = line.components(separatedBy: " | ").map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: "| "))
      }
      return Row(there: cells[0], here: cells[1], place: cells.dropFirst(2).joined())
    }
  }

  private static func inBackticks(_ text: String) -> [String] {
    text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }

  @Test("Each name of an article has its row", arguments: 0..<5)
  func isThere(number: Int) throws {
    let there = try Self.rows(number).map(\.there)
    for name in Self.names[number] { #expect(there.contains { $0.contains(name) }, "\(name)") }
  }

  private static func words(_ text: String) -> [Substring] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
  }

  @Test("What it becomes is a name of the code, and stands in the place that is told", arguments: 0..<5)
  func isHere(number: Int) throws {
    let files = try #require(
      FileManager.default.enumerator(at: Self.root.appending(path: "Sources"), includingPropertiesForKeys: nil))
    var code = ""
    for case let file as URL in files where file.pathExtension == "swift" {
      code += try String(contentsOf: file, encoding: .utf8)
    }
    let words = Set(Self.words(code))
    // What is not of the library.
    let foreign: Set<Substring> = ["demo", "DispatchSemaphore"]
    for row in try Self.rows(number) {
      let names = Self.inBackticks(row.here).flatMap(Self.words)
      for name in names {
        #expect(words.contains(name) || foreign.contains(name) || Int(name) != nil, "\(name): \(row.here)")
      }
      var there: Set<Substring> = []
      for link in (row.here + row.place).components(separatedBy: "](").dropFirst() {
        let path = String(link.prefix { $0 != ")" && $0 != "#" })
        guard !path.isEmpty else { continue }
        let text = try Self.text("docs/\(path)")
        if path.hasSuffix(".swift") { there.formUnion(Self.words(text)) }
      }
      #expect(names.isEmpty || there.isEmpty || !there.isDisjoint(with: names), "\(row.there): \(row.place)")
    }
  }

  @Test func `Nothing that an article has is told as missing`() throws {
    let missing = try (0..<5).flatMap { try Self.rows($0) }.filter { $0.here.contains("not yet") }
    #expect(missing.map(\.there) == [])
  }
}
