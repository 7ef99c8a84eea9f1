#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSchedules

  extension JobSnapshot {
    /// What it does, in a line: a command as one could type it, a download's URL, a request, a schedule, or the kind. Without passwords.
    var title: String {
      ShellCommand(self)?.withoutSecrets.typed ?? Download(self)?.title ?? SendRequest(self)?.title ?? schedule?.title
        ?? kind
    }
  }

  extension JobSchedule {
    var title: String { "schedule \(name): \(recurrence)" }

    /// What a tick stores, as far as it can be shown.
    var template: JobSnapshot {
      var snapshot = JobSnapshot(
        id: JobID(rawValue: 0), queue: job.queue, kind: job.kind, state: .scheduled, createdAt: next)
      snapshot.payload = job.payload
      return snapshot
    }

    var withoutSecrets: JobSchedule {
      var copy = self
      if let payload = template.withoutSecrets.payload { copy.job.payload = payload }
      return copy
    }
  }

  extension JobSnapshot {
    var schedule: JobSchedule? { kind == JobSchedule.kind ? try? payload(as: JobSchedule.self) : nil }
  }
#endif
