#if Process
  import DurableJobs
  import Foundation

  /// What the command of a job wrote, one log for each of its runs. Kept as long as the job is in its store.
  public struct CommandLogs: Sendable {
    private let job: JobID
    private let store: any JobStore
    private let folder: JobFolder

    public init(of job: JobID, in store: any JobStore) {
      self.job = job
      self.store = store
      folder = JobFolder(job, in: store)
    }

    /// The runs so far, in order, at most the last ten. Throws errors of the store.
    public var runs: [CommandRun] {
      get async throws { folder.runs(of: try await store.jobs(JobQuery(.id(job), limit: 1)).first) }
    }

    /// A reader of a run's output, from its beginning.
    public func reader(of run: CommandRun, _ stream: LogStream) -> CommandLogReader { folder.reader(of: run, stream) }

    /// The output of all runs, including what they write from now on, until the job has ended. For a job that no longer
    /// exists, what is left of it.
    public func following(_ stream: LogStream) -> Following {
      Following(job: job, store: store, folder: folder, stream: stream)
    }

    /// Parts of the logs of a job's runs, as they grow.
    public struct Following: AsyncSequence {
      public enum Part: Hashable, Sendable {
        /// What follows belongs to this run, and nothing more comes from earlier ones.
        case began(CommandRun)
        case bytes(Data)
        /// See ``CommandLogReader/Part/leftOut(_:)``.
        case leftOut(Int)
      }

      fileprivate let job: JobID
      fileprivate let store: any JobStore
      fileprivate let folder: JobFolder
      fileprivate let stream: LogStream

      public func makeAsyncIterator() -> Iterator { Iterator(log: self) }

      public struct Iterator: AsyncIteratorProtocol {
        fileprivate let log: Following
        private var reader: (run: Int, CommandLogReader)?

        fileprivate init(log: Following) { self.log = log }

        /// Throws errors of the store, and `CancellationError`.
        public mutating func next() async throws -> Part? {
          while true {
            // The store is asked before the last look, so that nothing written in between is missed.
            let job = try await log.store.jobs(JobQuery(.id(log.job), limit: 1)).first
            if let part = look(at: job) { return part }
            if job?.state.isFinished ?? true { return nil }
            try await Task.sleep(for: CommandLogs.interval)
          }
        }

        private mutating func look(at job: JobSnapshot?) -> Part? {
          // A later run begins only after this one has ended, in whatever way.
          let later = log.folder.runs(of: job).first { $0.number > reader?.run ?? 0 }
          switch reader?.1.next() {
          case .bytes(let data): return .bytes(data)
          case .leftOut(let count): return .leftOut(count)
          case nil: break
          }
          guard let later else { return nil }
          reader = (later.number, log.folder.reader(of: later, log.stream))
          return .began(later)
        }
      }
    }

    /// How often to look for more.
    package static let interval = Duration.milliseconds(100)
  }

  /// One start of a command. An attempt that was cut short by a crash is repeated under the same number, so an attempt
  /// may have several runs.
  public struct CommandRun: Hashable, Sendable {
    /// The number of the run, from 1.
    public let number: Int
    var record: Record

    struct Record: Codable, Hashable, Sendable {
      /// Tells its job from another of the same number: its creation, in milliseconds since 1970.
      var jobCreatedAt: Int64?
      var attempt: Int
      var startedAt: Date
      var endedAt: Date?
      var ending: String?
      var exitCode: Int32?
    }

    func isOfJob(createdAt: Date?) -> Bool {
      guard let createdAt, let jobCreatedAt = record.jobCreatedAt else { return true }
      return jobCreatedAt == createdAt.milliseconds
    }

    public var attempt: Int { record.attempt }
    public var startedAt: Date { record.startedAt }
    /// When it ended. Nil while it runs, and permanently if its worker died.
    public var endedAt: Date? { record.endedAt }
    /// How it ended, such as "exited with code 1".
    public var ending: String? { record.ending }
    /// The command's own exit code, or 128 plus the signal that killed it; nil if it did not end by itself.
    public var exitCode: Int32? { record.exitCode }
  }

  public enum LogStream: String, CaseIterable, Sendable {
    case stdout, stderr
  }

  extension JobFolder {
    package func reader(of run: CommandRun, _ stream: LogStream) -> CommandLogReader {
      CommandLogReader(path: log(run.number, stream))
    }
  }
#endif
