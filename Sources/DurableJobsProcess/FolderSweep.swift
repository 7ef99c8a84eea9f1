#if Process
  import DurableJobs
  import Foundation

  /// Deletes what is stored beside a store for jobs that it no longer has.
  ///
  /// A removal by this process is reported with the job's id. Of others it is only known that something ended there:
  /// then, and at first, all folders are checked, in small bites, so that a hundred thousand are no burden.
  struct FolderSweep {
    fileprivate struct News {
      var removed: [JobID] = []
      var isSweepWanted = true
    }

    /// How many folders are checked in one bite, and the pause until the next.
    static let bite = 100
    static let pause = Duration.seconds(1)
    /// The least time between the beginnings of two sweeps.
    static let interval = Duration.seconds(600)

    private let store: any JobStore
    private let remains: CommandRemains
    /// The folders still to be checked, the lowest last.
    private var left: [JobID] = []
    private var nextBite = Duration.zero
    private var nextSweep = Duration.zero

    init(_ store: any JobStore, _ remains: CommandRemains) {
      self.store = store
      self.remains = remains
    }

    /// Runs until the task is cancelled, and then finishes the current bite.
    ///
    /// A folder that can't be deleted now, or whose job can't be looked up, is checked again by the next sweep.
    mutating func run() async {
      let news = Lock(News())
      let gate = Gate()
      let subscription = store.signals.listen { signal in
        if news.withLock({ $0.heard(signal) }) { gate.open() }
      }
      repeat {
        // Folders of another store must not be deleted by this one.
        if remains.isStoreReplaced { left = [] }
        for id in news.withLock({ $0.takeRemoved() })
        where !remains.isStoreReplaced && !JobFolder(id, in: store).removeIfFree() {
          news.withLock { $0.isSweepWanted = true }
        }
        let now = store.clock.uptime
        if left.isEmpty, now >= nextSweep, news.withLock({ $0.takeWish() }) {
          nextSweep = now + Self.interval
          left =
            remains.isStoreReplaced
            ? [] : JobFolder.ids(in: JobFolder.all(of: store)).sorted { $0.rawValue > $1.rawValue }
        }
        if !left.isEmpty, now >= nextBite {
          if await !takeBite() { news.withLock { $0.isSweepWanted = true } }
          nextBite = now + Self.pause
        }
        let time = left.isEmpty ? (news.withLock { $0.isSweepWanted } ? nextSweep : nil) : nextBite
        let timer = time.map { store.clock.schedule(at: $0) { gate.open() } }
        await gate.pass()
        timer?.cancel()
      } while !Task.isCancelled
      withExtendedLifetime(subscription) {}
    }

    /// Returns whether everything that should be deleted was.
    private mutating func takeBite() async -> Bool {
      var isDone = true
      for id in left.suffix(Self.bite) {
        // If the store can't be asked, its folders stay.
        let jobs = try? await store.jobs(JobQuery(.id(id), limit: 1))
        if jobs?.isEmpty == false { continue }
        if jobs == nil || remains.isStoreReplaced || !JobFolder(id, in: store).removeIfFree() { isDone = false }
      }
      left.removeLast(min(Self.bite, left.count))
      return isDone
    }
  }

  extension FolderSweep.News {
    /// Returns whether there is something to do now.
    fileprivate mutating func heard(_ signal: StoreSignal) -> Bool {
      switch signal {
      case .committed(let transitions):
        let ids = transitions.filter { $0.isRemoved && $0.kind == ShellCommand.kind }.map(\.id)
        removed += ids
        return !ids.isEmpty
      case .changedElsewhere(let change):
        guard change.contains(.results), !isSweepWanted else { return false }
        isSweepWanted = true
        return true
      }
    }

    fileprivate mutating func takeRemoved() -> [JobID] {
      defer { removed = [] }
      return removed
    }

    fileprivate mutating func takeWish() -> Bool {
      defer { isSweepWanted = false }
      return isSweepWanted
    }
  }
#endif
