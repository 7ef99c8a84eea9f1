#if Shell
  import ArgumentParser
  import DurableJobs

  package enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case jobFailed = 1
    case usage = 2
    case noSuchJob = 3
    case timedOut = 4
    case storeNotUsable = 5
    /// Of a worker alone, whose service is not started again then.
    case storeNeedsPerson = 6
    case interrupted = 130

    /// As a list of all says it.
    package var words: String {
      switch self {
      case .done: "done"
      case .jobFailed: "a job failed"
      case .usage: "usage"
      case .noSuchJob: "no such job, batch, schedule or service"
      case .timedOut: "timed out"
      case .storeNotUsable: "store not usable"
      case .storeNeedsPerson: "the same for 'work', if trying again does not help"
      case .interrupted: "interrupted with work left"
      }
    }

    package init(_ error: JobError) {
      switch error.code {
      case .invalidArgument, .notEncodable, .notDecodable, .wrongState: self = .usage
      case .notFound: self = .noSuchJob
      case .alreadyRunning: self = .jobFailed
      default: self = .storeNotUsable
      }
    }
  }

  extension ExitCode {
    package init(_ status: ExitStatus) { self.init(status.rawValue) }
  }
#endif
