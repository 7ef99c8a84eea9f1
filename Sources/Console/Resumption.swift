#if Shell
  import DurableJobs
  import Foundation

  /// Hears that this process goes on after Ctrl-Z and `fg`: the shell has written where a ``LiveBlock`` was.
  package final class Resumption: Sendable {
    private let happened = Lock(false)
    private let watch = Lock<SignalWatch?>(nil)

    /// Listens when this returns. Calls `act` each time.
    package init(act: @escaping @Sendable () -> Void = {}) async {
      let made = await SignalWatch([SIGCONT]) { [weak self] _ in
        self?.happened.withLock { $0 = true }
        act()
      }
      watch.withLock { $0 = made }
    }

    /// The same, without waiting until it listens.
    package static func source(on queue: DispatchQueue, act: @escaping @Sendable () -> Void) -> any DispatchSourceSignal
    {
      let source = DispatchSource.makeSignalSource(signal: SIGCONT, queue: queue)
      source.setEventHandler(handler: act)
      source.activate()
      return source
    }

    /// Whether that has happened since this was asked last.
    package func take() -> Bool {
      happened.withLock { happened in
        defer { happened = false }
        return happened
      }
    }
  }
#endif
