#if HTTP
  import DurableJobs
  import Foundation

  /// Runs ``Download`` jobs: one for a process, or one for each set of limits.
  ///
  /// Proxies are those of the environment: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, as curl reads them.
  public final class Downloader: Sendable {
    /// What binds all downloads of a ``Downloader`` together. How many there are at once is the worker's limit.
    public struct Limits: Hashable, Sendable {
      /// Connections to one host and port at once. A download whose host is busy gives its slot to others.
      public var perHost: Int
      /// All downloads together; nil for as fast as they come.
      public var bytesPerSecond: Int64?
      /// A connection that brings less than this many bytes within ``slowFor`` is given up, and the attempt has failed.
      public var minimumBytes: Int64
      public var slowFor: Duration
      /// How long making a connection may take.
      public var connectTimeout: Duration

      public init(
        perHost: Int = 4, bytesPerSecond: Int64? = nil, minimumBytes: Int64 = 1000,
        slowFor: Duration = .seconds(30), connectTimeout: Duration = .seconds(15)
      ) {
        self.perHost = perHost
        self.bytesPerSecond = bytesPerSecond
        self.minimumBytes = minimumBytes
        self.slowFor = slowFor
        self.connectTimeout = connectTimeout
      }
    }

    /// News of a download that runs here, for a screen. Sent often, from any thread.
    @nonexhaustive
    public enum Event: Sendable {
      case began
      /// How many bytes of the file are here, and of how many if that is known.
      case received(Int64, of: Int64?)
      /// It goes on later, by itself, for this reason: a full disk, a busy host.
      case waits(String)
      case succeeded(DownloadedFile)
      /// The attempt failed; another follows if `isFinal` is false and attempts are left.
      case failed(DownloadError, isFinal: Bool)
      /// It was stopped, and can go on where it is.
      case stopped
    }

    public init(
      store: any JobStore, limits: Limits = Limits(),
      environment: [String: String] = ProcessInfo.processInfo.environment,
      onEvent: @escaping @Sendable (JobContext, Download, Event) -> Void = { _, _, _ in }
    ) {
    }

    /// Lets `worker` run downloads.
    public func register(with worker: JobWorker) {
      worker.register(Download.self) { try await self.run($0, $1) }
    }

    private func run(_ download: Download, _ context: JobContext) async throws -> DownloadedFile {
      throw JobExit.permanent(DownloadError(.unusableFolder, "not yet"))
    }
  }
#endif
