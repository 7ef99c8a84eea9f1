import DurableJobs

/// What the writer remembers from one transaction to the next. Used on the writer's thread alone; nothing of it is
/// needed to be right, only to be fast, except the numbers of this process's own workers.
final class WriterMemory {
  /// A worker of this process, in the rows that stand for it in `durable_worker`: one, until its claims are counted
  /// through and it takes another.
  struct Worker {
    var rows: [Row]
    var kinds: Set<String>
    var queues: Set<String>

    struct Row {
      let id: Int64
      /// Claims made so far.
      var claims: Int64
      /// `asked` when all held claims were last looked at.
      var asked: Int64 = 0
    }
  }

  /// A claim of this process, as long as it has not been settled.
  struct Held {
    let claim: Int64
    let route: Int64
    /// Its unique key.
    let unique: String?
    /// Something was asked of it, or it was lost: its row must be looked at.
    var isDoubtful = false
  }

  let routes = RouteCache()
  var workers: [WorkerID: Worker] = [:]
  var held: [Int64: Held] = [:]
  /// Terms are often the same text for many jobs in a row.
  var lastTerms: (text: String, terms: StoredTerms)?
}
