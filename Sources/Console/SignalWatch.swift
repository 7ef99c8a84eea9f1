#if Shell
  import DurableJobs
  import Foundation

  /// Calls `act` for each of some signals that this process gets, for as long as it exists.
  ///
  /// A signal that was ignored when the process began stays so, and is not told: `nohup` asks for that, and so do
  /// shells for what they start in the background.
  package final class SignalWatch: Sendable {
    private let sources: Lock<[any DispatchSourceSignal]>
    #if canImport(Darwin)
      private let taken: [Int32]
      /// How many watches each signal has that was not ignored before.
      private static let watches = Lock<[Int32: Int]>([:])
    #endif

    /// Watches when this returns. What came before had its usual effect.
    package init(_ signals: [Int32], act: @escaping @Sendable (Int32) -> Void) async {
      var sources: [any DispatchSourceSignal] = []
      #if canImport(Darwin)
        var taken: [Int32] = []
      #endif
      for number in signals where !Self.isIgnored(number) {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { act(number) }
        // It is registered a moment after its activation.
        await withCheckedContinuation { continuation in
          source.setRegistrationHandler { continuation.resume() }
          source.activate()
        }
        #if canImport(Darwin)
          // There a source only sees a signal; on Linux it takes it over.
          if number != SIGWINCH, number != SIGCONT {
            Self.watches.withLock { $0[number, default: 0] += 1 }
            signal(number, SIG_IGN)
            taken.append(number)
          }
        #endif
        sources.append(source)
      }
      #if canImport(Darwin)
        self.taken = taken
      #endif
      self.sources = Lock(sources)
    }

    deinit {
      sources.withLock { for source in $0 { source.cancel() } }
      #if canImport(Darwin)
        Self.watches.withLock { watches in
          for number in taken {
            watches[number, default: 1] -= 1
            if watches[number] == 0 { signal(number, SIG_DFL) }
          }
        }
      #endif
    }

    static func isIgnored(_ number: Int32) -> Bool {
      #if canImport(Darwin)
        if watches.withLock({ $0[number, default: 0] > 0 }) { return false }
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
