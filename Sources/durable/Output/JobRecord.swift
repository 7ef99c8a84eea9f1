#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// A job in JSON, with the names that every command uses for it.
  struct JobRecord: Encodable {
    struct Progress: Encodable {
      var fraction: Double
      @OrNull var message: String?
    }

    struct Failure: Encodable {
      var message: String
      var attempt: Int
      var at: Date
      @OrNull var code: String?
    }

    struct Need: Encodable {
      @OrNull var job: JobID?
      @OrNull var key: String?
      var condition: JobEdge.Condition

      init(_ edge: JobEdge) {
        job = edge.job
        if case .key(let name) = edge.target { key = name.withoutPasswords }
        condition = edge.condition
      }
    }

    struct Holder: Encodable {
      var process: Int64
      var state: String
    }

    /// "job" among other lines of a stream.
    var event: String?
    var id: JobID
    var queue: String
    var kind: String
    @OrNull var key: String?
    var state: String
    var priority: Int
    var attempt: Int
    var maxAttempts: Int
    var crashes: Int
    @OrNull var timeout: Double?
    /// When it is given up.
    @OrNull var deadline: Date?
    var createdAt: Date
    @OrNull var runAt: Date?
    @OrNull var startedAt: Date?
    @OrNull var finishedAt: Date?
    @OrNull var progress: Progress?
    @OrNull var reason: String?
    @OrNull var payload: StoredJSON?
    @OrNull var output: StoredJSON?
    var errors: [Failure]
    var tags: [String]
    @OrNull var lane: String?
    /// The job that it waits for in its lane, where one job is asked for.
    var laneHead: JobID?
    var requires: [String]
    /// What it waits for, or waited for.
    var after: [Need]
    /// The job whose end skipped it.
    @OrNull var cause: JobID?
    /// Who runs it.
    @OrNull var worker: Holder?

    init(
      _ job: JobSnapshot, worker: StoredWorker? = nil, head: JobID? = nil, showsSecrets: Bool = false,
      inStream: Bool = false
    ) {
      event = inStream ? "job" : nil
      let job = showsSecrets ? job : job.withoutSecrets
      id = job.id
      queue = job.queue
      kind = job.kind
      key = job.key
      state = job.state.rawValue
      priority = job.priority.rawValue
      attempt = job.attempt
      maxAttempts = job.maxAttempts
      crashes = job.crashes
      timeout = job.timeout?.seconds
      deadline = job.deadline?.date
      createdAt = job.createdAt
      runAt = job.runAt
      startedAt = job.startedAt
      finishedAt = job.finishedAt
      progress = job.progress.map { Progress(fraction: $0.fraction, message: $0.message) }
      reason = job.reason
      payload = job.payload.map { StoredJSON($0) }
      output = job.output.map { StoredJSON($0) }
      errors = job.failures.map { Failure(message: $0.message, attempt: $0.attempt, at: $0.at, code: $0.code) }
      tags = job.tags.sorted()
      lane = job.lane?.name
      laneHead = head
      requires = job.requires.map(\.rawValue).sorted()
      after = job.edges.map { Need($0) }
      cause = job.cause
      self.worker = worker.map { Holder(process: $0.process, state: $0.standing.rawValue) }
    }
  }

  extension JobSnapshot {
    /// For everybody's eyes. A payload that is neither a command, a download, a request nor a schedule is passed on as it is: nobody here knows
    /// what in it is a secret.
    var withoutSecrets: JobSnapshot {
      var copy = self
      if let command = ShellCommand(self) {
        copy.payload = Self.encode(command.withoutSecrets)
      } else if let download = Download(self) {
        copy.payload = Self.encode(download.withoutSecrets)
      } else if let request = SendRequest(self) {
        copy.payload = Self.encode(request.withoutSecrets)
        if let answer = HTTPAnswer(self) { copy.output = Self.encode(answer.withoutSecrets) }
      } else if let schedule {
        copy.payload = Self.encode(schedule.withoutSecrets)
      }
      copy.key = key?.withoutPasswords
      copy.reason = reason?.withoutPasswords
      copy.progress?.message = progress?.message?.withoutPasswords
      for index in failures.indices { copy.failures[index].message = failures[index].message.withoutPasswords }
      return copy
    }

    private static func encode(_ payload: some Encodable) -> Data? { try? JSONEncoder.ofPayloads.encode(payload) }
  }

  /// How many jobs are in each state, in JSON.
  struct CountsRecord: Encodable {
    var counts = JobCounts()

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(_ state: JobState) { stringValue = state.rawValue }
      init?(stringValue: String) { return nil }
      init?(intValue: Int) { return nil }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for state in JobState.allCases { try container.encode(counts[state], forKey: Key(state)) }
    }
  }
#endif
