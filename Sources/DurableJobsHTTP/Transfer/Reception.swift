#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore

  /// How bytes come in: written as they arrive, flushed beside that, and no slower than is put up with.
  struct Reception {
    /// How often what came is flushed, and the connection looked at.
    static let tick = Duration.seconds(1)

    let limits: Downloader.Limits
    let speed: SpeedLimit?
    let clock: any JobClock
    /// Tells how many bytes of the file were here before.
    let goesOn: @Sendable (Int64) -> Void
    /// Tells how many bytes of the file are here, and of how many.
    let report: @Sendable (Int64, Int64?) -> Void

    /// Takes a body into a part, until its end, or until the file has `end` bytes. Throws
    /// ``DownloadError/Code/connection`` or ``DownloadError/Code/stalled``, what the disk refuses, or `CancellationError`.
    func receive(
      _ body: HTTPClientResponse.Body, into part: PartFile, until end: Int64?, of total: Int64?, _ host: String
    ) async throws {
      let meter = Meter(length: part.length)
      try await withThrowingTaskGroup { group in
        group.addTask {
          try await write(body, into: part, until: end, of: total, host, meter)
          return true
        }
        group.addTask {
          try await watch(part, of: total, host, meter)
          return false
        }
        while try await group.next() == false {}
        group.cancelAll()
      }
    }

    private func write(
      _ body: HTTPClientResponse.Body, into part: PartFile, until end: Int64?, of total: Int64?, _ host: String,
      _ meter: Meter
    ) async throws {
      var iterator = body.makeAsyncIterator()
      while true {
        let next: ByteBuffer?
        do {
          next = try await iterator.next()
        } catch {
          try Task.checkCancellation()
          throw DownloadError.connection(error, host) ?? error
        }
        let room = end.map { Int(clamping: $0 - part.length) } ?? .max
        // What comes beyond the end is not of this file, and may never stop.
        guard let next, room > 0 else { return }
        try next.withUnsafeReadableBytes {
          try part.append(UnsafeRawBufferPointer(rebasing: $0.prefix(room)))
        }
        report(part.length, total)
        var mustWait = meter.wrote(next.readableBytes, length: part.length)
        while mustWait {
          await meter.room.pass()
          try Task.checkCancellation()
          mustWait = meter.isFull
        }
        if let speed {
          meter.heldUp(try await speed.pass(next.readableBytes))
        }
      }
    }

    /// Flushes what came, and throws when too little came. Returns when the task is cancelled.
    private func watch(_ part: PartFile, of total: Int64?, _ host: String, _ meter: Meter) async throws {
      var looked = clock.uptime
      while true {
        let timer = clock.schedule(after: min(Self.tick, limits.slowFor)) { meter.work.open() }
        await meter.work.pass()
        timer.cancel()
        if Task.isCancelled { return }
        if let length = meter.unflushedLength {
          try part.flush(length)
          meter.flushed(length)
        }
        // The last news before a standstill may have come too soon after another to be told.
        report(meter.length, total)
        guard clock.uptime - looked >= limits.slowFor else { continue }
        looked = clock.uptime
        let (received, heldUp) = meter.takeReceived()
        // What we held up ourselves says nothing about the connection.
        if received < limits.minimumBytes, heldUp < limits.slowFor / 2 { throw stalled(host) }
      }
    }

    /// An answer that doesn't come is given up as a connection that brings nothing is.
    func ended<R: Sendable>(
      waiting host: String, _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
      do {
        return try await withThrowingTaskGroup { group in
          group.addTask { try await body() }
          group.addTask {
            try await clock.sleep(limits.slowFor)
            throw stalled(host)
          }
          defer { group.cancelAll() }
          return try await group.next()!
        }
      } catch let error as Setback {
        throw error
      } catch {
        try Task.checkCancellation()
        throw DownloadError.connection(error, host) ?? error
      }
    }

    private func stalled(_ host: String) -> DownloadError {
      DownloadError(
        .stalled,
        "\(host) sent less than \(limits.minimumBytes) bytes in \(limits.slowFor.seconds.formatted()) s")
    }
  }
#endif
