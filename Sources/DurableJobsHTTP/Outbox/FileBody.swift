#if HTTP
  import DurableJobs
  import Foundation
  import NIOCore

  /// A file as the body of a request, read piece by piece as the connection takes it.
  struct FileBody: AsyncSequence, Sendable {
    let file: Descriptor
    let path: String
    let length: Int64
    private let steady: SteadyFile
    private let threads: DiskThreads
    /// Told how many bytes of it have gone, and of how many.
    let onProgress: @Sendable (Int64, Int64) -> Void
    /// Why it can't be sent to its end: the client tells nobody where the answer has ended before.
    let failure = Lock<(any Error)?>(nil)

    /// Throws ``RequestError``. Nobody is waited for who writes to a pipe of that name.
    init(path: String, onProgress: @escaping @Sendable (Int64, Int64) -> Void) throws {
      file = Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
      guard file.number >= 0 else { throw Self.failure(path) }
      self.path = path
      threads = DiskThreads.of(file: path)
      self.onProgress = onProgress
      do { steady = try SteadyFile(file, path) } catch { throw Self.failure(path) }
      guard steady.status.isRegular else { throw RequestError(.unusableBody, "can't send \(path): it is no file") }
      length = steady.status.size
    }

    struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let body: FileBody
      private var offset: Int64 = 0

      fileprivate init(body: FileBody) { self.body = body }

      mutating func next() async throws -> ByteBuffer? {
        let (body, offset) = (body, offset)
        guard offset < body.length else { return nil }
        let buffer: ByteBuffer
        do {
          buffer = try await withTaskExecutorPreference(body.threads) { try await body.piece(at: offset) }
        } catch {
          body.failure.withLock { $0 = error }
          throw error
        }
        self.offset += Int64(buffer.readableBytes)
        body.onProgress(self.offset, body.length)
        return buffer
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

    /// `async` for the thread that it is to be read on.
    private func piece(at offset: Int64) async throws -> ByteBuffer {
      let most = Int(Swift.min(1 << 16, length - offset))
      var buffer = ByteBufferAllocator().buffer(capacity: most)
      try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { bytes in
        while true {
          let count = pread(file.number, bytes.baseAddress, most, off_t(offset))
          if count > 0 { return count }
          if count == 0 { throw RequestError(.unusableBody, "\(path) became shorter while it was sent") }
          guard errno != EINTR else { continue }
          throw Self.failure(path)
        }
      }
      // Before its last bytes go: what arrives whole is of one version. What was only added to it is for another request.
      if offset + Int64(buffer.readableBytes) >= length, !steady.isSteady {
        throw RequestError(.connection, "\(path) was changed while it was sent, which begins anew")
      }
      return buffer
    }

    /// From `errno`. A file server that is away uses attempts up, since a disk that is broken may say the same.
    static func failure(_ path: String) -> RequestError {
      let number = errno
      if SystemLack.isAbsence(number) {
        return RequestError(.connection, "can't read \(path) for now: \(SystemError.words(number))")
      }
      errno = number
      return RequestError(.disk("read", path))
    }
  }
#endif
