#if HTTP
  import DurableJobs

  /// What goes when a job's success is stored, and not before: an attempt that comes after a crash needs it.
  final class UntilStored<Thing: Sendable>: Sendable {
    private let things = Lock<[JobID: Thing]>([:])
    private let remove: @Sendable (Thing) -> Void

    init(remove: @escaping @Sendable (Thing) -> Void) { self.remove = remove }

    func add(_ thing: Thing, of id: JobID) { things.withLock { $0[id] = thing } }

    /// Told of a claim, or of progress, after the end of the attempt was added here, it waits on.
    func hear(_ signal: StoreSignal) {
      guard case .committed(let changes) = signal else { return }
      let ended = things.withLock { things in
        changes.filter { $0.state != .running }.compactMap { change in
          things.removeValue(forKey: change.id).flatMap { change.state == .succeeded ? $0 : nil }
        }
      }
      for thing in ended { remove(thing) }
    }
  }
#endif
