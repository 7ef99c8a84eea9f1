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
    private let watch: SignalWatch
    private let keys = Lock<(any DispatchSourceRead)?>(nil)

    /// Listens when this returns.
    init(keyboard: Bool) async {
      let (stream, continuation) = AsyncStream<DemoInput>.makeStream()
      self.stream = stream
      self.continuation = continuation
      watch = await SignalWatch([SIGINT, SIGTERM, SIGHUP] + (keyboard ? [SIGWINCH] : [])) { number in
        continuation.yield(number == SIGWINCH ? .resized : .quit(.interrupted))
      }
      Screen.onClosed.withLock { $0 = { continuation.yield(.quit(.done)) } }
      if keyboard { keys.withLock { $0 = readKeys() } }
    }

    deinit { keys.withLock { $0?.cancel() } }

    func send(_ input: DemoInput) { continuation.yield(input) }

    private func readKeys() -> any DispatchSourceRead {
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
      source.activate()
      return source
    }
  }
#endif
