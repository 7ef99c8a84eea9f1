#if Shell
  import DurableJobs
  import Console

  /// Workers in a line: how many live on which queues, with the kinds that they know, and who does not answer.
  struct WorkerSummary {
    private let workers: [StoredWorker]

    /// More would not be read.
    private static let mostKinds = 4

    init(_ workers: [StoredWorker]) { self.workers = workers }

    /// As in "2 on default (command, download), 1 on images (resize)"; nil if nobody works.
    var text: String? {
      let alive = Dictionary(grouping: workers.filter { $0.standing == .alive }) { Self.work($0) }
      var parts = alive.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map { "\($1.count) on \($0)" }
      parts += workers.filter { $0.standing == .silent }.map { "process \($0.process) does not answer" }
      return parts.isEmpty ? nil : parts.joined(separator: ", ").withVisibleControls
    }

    private static func work(_ worker: StoredWorker) -> String {
      let kinds = worker.kinds.sorted()
      let more = kinds.count > mostKinds ? ", …" : ""
      return
        "\(worker.queues.sorted().joined(separator: " and ")) (\(kinds.prefix(mostKinds).joined(separator: ", "))\(more))"
    }
  }
#endif
