#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// All that the download demo reacts to, in one stream.
  enum DemoInput: Sendable {
    case key(DemoKey)
    case resized
    /// Somebody asks it to end: Ctrl-C, a closed terminal, a reader that has gone.
    case quit(ExitStatus)
    case event(DownloadEvent)
    /// A run came to no end: it was cancelled, or this went wrong.
    case broke(String)
  }

  /// Listens to signals, and to the keyboard if asked to, for as long as it exists.
  final class DemoInputs: Sendable {
    let stream: AsyncStream<DemoInput>
    private let continuation: AsyncStream<DemoInput>.Continuation
    private let sources = Lock<[any DispatchSourceProtocol]>([])

    /// Listens when this returns.
    init(keyboard: Bool) async {
      (stream, continuation) = AsyncStream.makeStream()
      var sources: [any DispatchSourceProtocol] = []
      for number in [SIGINT, SIGTERM, SIGHUP] {
        sources.append(Self.onSignal(number) { [continuation] in continuation.yield(.quit(.interrupted)) })
      }
      Screen.onClosed.withLock { $0 = { [continuation] in continuation.yield(.quit(.done)) } }
      if keyboard {
        sources.append(Self.onSignal(SIGWINCH) { [continuation] in continuation.yield(.resized) })
        sources.append(readKeys())
      }
      // A source is registered a moment after its activation; a signal that came before would be lost.
      for source in sources {
        await withCheckedContinuation { continuation in
          source.setRegistrationHandler { continuation.resume() }
          source.activate()
        }
      }
      self.sources.withLock { $0 = sources }
    }

    deinit { sources.withLock { for source in $0 { source.cancel() } } }

    func send(_ input: DemoInput) { continuation.yield(input) }

    private static func onSignal(_ number: Int32, _ act: @escaping @Sendable () -> Void) -> any DispatchSourceProtocol {
      // One that does nothing by itself is left as it is: ignored, SIGWINCH would not arrive.
      if number != SIGWINCH { signal(number, SIG_IGN) }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: act)
      return source
    }

    private func readKeys() -> any DispatchSourceProtocol {
      let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
      let keyboard = Lock(Keyboard())
      // A source and its handler keep each other until it is cancelled, which `deinit` does at the latest.
      source.setEventHandler { [continuation] in
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else {
          if count < 0, errno == EINTR || errno == EAGAIN { return }
          source.cancel()
          continuation.yield(.quit(.interrupted))
          return
        }
        for key in keyboard.withLock({ $0.keys(bytes.prefix(count)) }) { continuation.yield(.key(key)) }
      }
      return source
    }
  }
#endif
