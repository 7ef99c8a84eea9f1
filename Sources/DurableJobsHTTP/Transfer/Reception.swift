#if HTTP
  import DurableJobs
  import Foundation
  import NIOCore

  /// How bytes are received: written as they arrive, flushed in parallel, and no slower than is tolerated.
  struct Reception {
    /// How often what has arrived is flushed, and the connection checked.
    static let tick = Duration.seconds(1)

    let limits: Downloader.Limits
    let speed: SpeedLimit?
    let clock: any JobClock
    /// Reports how many bytes of the file were here before.
    let goesOn: @Sendable (Int64) -> Void
    /// Reports how many bytes of the file are here, and of how many.
    let report: @Sendable (Int64, Int64?) -> Void

    private let meter = Meter()

    init(
      limits: Downloader.Limits, speed: SpeedLimit?, clock: any JobClock,
      goesOn: @escaping @Sendable (Int64) -> Void, report: @escaping @Sendable (Int64, Int64?) -> Void
    ) {
      self.limits = limits
      self.speed = speed
      self.clock = clock
      self.goesOn = goesOn
      self.report = report
    }

    /// Runs `fetch`, and in parallel flushes what it receives and gives up hosts that send too little. Throws errors of
    /// `fetch`, ``DownloadError/Code/stalled``, errors of the disk, or `CancellationError`.
    func watching<R: Sendable>(_ part: PartFile, _ fetch: @escaping @Sendable () async throws -> R) async throws -> R {
      try await withThrowingTaskGroup { group in
        group.addTask {
          defer { meter.end() }
          return try await fetch()
        }
        try await watch(part)
        return try await group.next()!
      }
    }

    /// Returns when there is nothing more to watch, or the task is cancelled.
    private func watch(_ part: PartFile) async throws {
      while true {
        let timer = clock.schedule(after: min(Self.tick, limits.slowFor)) { meter.work.open() }
        await meter.work.pass()
        timer.cancel()
        if meter.isOver || Task.isCancelled { return }
        try meter.whileReceiving { length, total, isFlushed in
          if !isFlushed { try part.flush(length) }
          // The last report before a standstill may have come too soon after another to be passed on.
          report(length, total)
        }
        if let host = meter.stalled(at: clock.uptime, limits) {
          throw DownloadError(
            .stalled,
            "\(host) sent less than \(limits.minimumBytes) bytes in \(limits.slowFor.seconds.formatted()) s")
        }
      }
    }

    /// Gives up on an answer that doesn't come, like on a connection that brings nothing.
    func ended<R: Sendable>(waiting host: String, _ body: () async throws -> R) async throws -> R {
      meter.begin(.waiting(for: host), at: clock.uptime)
      defer { meter.begin(.atWork, at: clock.uptime) }
      do {
        return try await body()
      } catch let error as Setback {
        throw error
      } catch {
        try Task.checkCancellation()
        throw DownloadError.connection(error, host) ?? error
      }
    }

    @Sendable func isSent(_ isSent: Bool) { meter.isSent(isSent, at: clock.uptime) }

    /// Receives a body into a part, until its end, or until the file has `end` bytes. Throws
    /// ``DownloadError/Code/connection``, errors of the disk, or `CancellationError`.
    func receive(
      _ body: inout AnswerBody, into part: PartFile, until end: Int64?, of total: Int64?, _ host: String
    ) async throws {
      meter.begin(.receiving(from: host, of: total), length: part.length, at: clock.uptime)
      defer { meter.begin(.atWork, at: clock.uptime) }
      var share = speed.map { SpeedLimit.Share(of: $0) }
      while true {
        let next: ByteBuffer?
        meter.awaits(at: clock.uptime)
        do {
          next = try await body.next()
        } catch {
          try Task.checkCancellation()
          if DownloadError.isInPieces(error) {
            throw Setback.final(
              DownloadError(
                .unusableAnswer,
                "\(host) sends the file packed in several pieces, or with something behind it, which can't be undone here"
              ))
          }
          throw DownloadError.connection(error, host) ?? error
        }
        let room = end.map { Int(clamping: $0 - part.length) } ?? .max
        // What comes after the end does not belong to this file, and may never stop.
        guard let next, room > 0 else {
          try await share?.settle()
          return
        }
        meter.came(next.readableBytes, at: clock.uptime)
        // Other downloads use up the room for a file of known length; checking costs more than writing.
        if total == nil || part.length >> 20 != (part.length + Int64(next.readableBytes)) >> 20 {
          try part.leaveRoom(after: next.readableBytes)
        }
        try next.withUnsafeReadableBytes {
          try part.append(UnsafeRawBufferPointer(rebasing: $0.prefix(room)))
        }
        report(part.length, total)
        var mustWait = meter.wrote(length: part.length)
        while mustWait {
          await meter.room.pass()
          try Task.checkCancellation()
          mustWait = meter.isFull
        }
        // While it waits, nothing is read from the connection.
        try await share?.pass(next.readableBytes)
      }
    }
  }
#endif
