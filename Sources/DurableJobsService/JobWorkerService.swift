#if Service
  import DurableJobs
  import ServiceLifecycle

  extension JobWorker {
    /// Returns this worker as a service for a `ServiceGroup`:
    ///
    ///     let group = ServiceGroup(services: [worker.service(), server], gracefulShutdownSignals: [.sigterm], logger: logger)
    ///     try await group.run()
    ///
    /// It runs until the group shuts down: then no more jobs are claimed, running ones have `grace` to end, and those
    /// that have not ended become ready again and keep their attempt. Set the group's `maximumGracefulShutdownDuration`
    /// some seconds longer. A group shuts services down in reverse order, so list a worker after what its handlers use.
    /// Throws what ``JobWorker/run()`` throws, for instance if the store can't be used at all.
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
          // Throws if the worker has ended by itself.
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
