#if Service
  import DurableJobs
  import ServiceLifecycle

  extension JobWorker {
    /// This worker as a service of a `ServiceGroup`:
    ///
    ///     let group = ServiceGroup(services: [worker.service(), server], gracefulShutdownSignals: [.sigterm], logger: logger)
    ///     try await group.run()
    ///
    /// It runs until the group shuts down: then no job is claimed any more, those that run have `grace` to end, and what has not
    /// ended goes back to the store, its attempt given back. Give the group's `maximumGracefulShutdownDuration` some seconds
    /// more. A group ends its services in the reverse of their order: put a worker after what its handlers use. Throws what
    /// ``JobWorker/run()`` throws, as where the store can't be used at all.
    public func service(grace: Duration = Defaults.grace) -> some Service {
      JobWorkerService(worker: self, grace: grace)
    }
  }

  struct JobWorkerService: Service, CustomStringConvertible {
    let worker: JobWorker
    let grace: Duration

    var description: String { "JobWorker" }

    func run() async throws {
      try await withThrowingTaskGroup { group in
        group.addTask { try await worker.run() }
        group.addTask {
          // Throws where the worker has ended by itself.
          try await gracefulShutdown()
          await worker.stop(grace: grace)
        }
        try await group.next()
        group.cancelAll()
        while let result = await group.nextResult() {
          if case .failure(let error) = result, !(error is CancellationError) { throw error }
        }
      }
    }
  }
#endif
