#if Shell
  import DurableJobs
  import Foundation

  /// Calls `act` for each of some signals that this process gets, for as long as it exists.
  ///
  /// A signal that was ignored when the process began stays so, and is not told: `nohup` asks for that, and so do
  /// shells for what they start in the background.
  package final class SignalWatch: Sendable {
    private let sources: Lock<[any DispatchSourceSignal]>
    private let taken: [Int32]
    private static let watched = Lock<[Int32: Watched]>([:])

    /// What is known of a signal that was not ignored before.
    private struct Watched {
      /// How many watches it has.
      var count = 0
      /// On Linux a source takes a signal over by an action that Dispatch sets for the first one alone.
      var action: sigaction?

      mutating func begin(_ number: Int32) {
        count += 1
        #if canImport(Darwin)
          // There a source only sees a signal.
          signal(number, SIG_IGN)
        #else
          if var action { sigaction(number, &action, nil) }
        #endif
      }

      /// With the last watch the signal has its usual effect again.
      mutating func end(_ number: Int32) {
        count -= 1
        guard count == 0 else { return }
        #if !canImport(Darwin)
          var action = sigaction()
          sigaction(number, nil, &action)
          self.action = action
        #endif
        signal(number, SIG_DFL)
      }
    }

    /// Watches when this returns. What came before had its usual effect.
    package init(_ signals: [Int32], act: @escaping @Sendable (Int32) -> Void) async {
      var sources: [any DispatchSourceSignal] = []
      var taken: [Int32] = []
      for number in signals where !Self.isIgnored(number) {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { act(number) }
        // It is registered a moment after its activation.
        await withCheckedContinuation { continuation in
          source.setRegistrationHandler { continuation.resume() }
          source.activate()
        }
        // These end nothing.
        if number != SIGWINCH, number != SIGCONT {
          Self.watched.withLock { $0[number, default: Watched()].begin(number) }
          taken.append(number)
        }
        sources.append(source)
      }
      self.taken = taken
      self.sources = Lock(sources)
    }

    deinit {
      Self.watched.withLock { for number in taken { $0[number]?.end(number) } }
      sources.withLock { for source in $0 { source.cancel() } }
    }

    static func isIgnored(_ number: Int32) -> Bool {
      #if canImport(Darwin)
        if watched.withLock({ $0[number]?.count ?? 0 > 0 }) { return false }
      #endif
      // Only asked, not set for a moment: a signal that came then would be lost.
      var former = sigaction()
      sigaction(number, nil, &former)
      #if canImport(Darwin)
        let handler = former.__sigaction_u.__sa_handler
      #else
        let handler = former.__sigaction_handler.sa_handler
      #endif
      return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
  }
#endif
