#if Postgres
  import DurableJobs

  /// Tells of the end of other processes of this machine.
  final class DeathWatch: Sendable {
    private let own: WorkerProcess?
    private let onDeath = Lock<@Sendable () -> Void>({})
    private let ends = ProcessEnds()

    /// `own`: this process; without it nothing is watched.
    init(own: WorkerProcess?) { self.own = own }

    func begin(onDeath: @escaping @Sendable () -> Void) { self.onDeath.withLock { $0 = onDeath } }

    /// Also watches this one, as long as it lives, with workers or not. One that has already ended is noticed too.
    func watch(_ process: WorkerProcess) {
      guard let own, process.machine == own.machine, process != own else { return }
      let isNew = ends.add(process) { [weak self] in self?.tell() }
      // It may have ended before there was anything to watch, and its number been reused.
      guard process.hasEnded else { return }
      if !isNew || ends.remove(process) { tell() }
    }

    func end() {
      onDeath.withLock { $0 = {} }
      ends.end()
    }

    private func tell() { onDeath.value() }
  }
#endif
