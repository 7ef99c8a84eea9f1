import DurableJobs
import Foundation
import Observation

/// The jobs of a queue for a screen: rows and counts that follow changes of the store by any process.
///
///     @State private var uploads = JobList(queue, of: UploadPhoto.self, detail: .failures)
///     var body: some View { List(uploads.rows) { UploadRow($0) } }
///
/// It watches from its creation until it is released. What it shows is at most 100 ms old, and it only changes when the
/// shown values do.
@MainActor @Observable
public final class JobList<Row: Equatable & Sendable> {
  /// The first matching jobs, at most `limit`.
  public private(set) var rows: [Row] = []
  /// The number of matching jobs in each state.
  public private(set) var counts = JobCounts()
  /// Whether rows have yet to be read for the first time.
  public private(set) var isLoading = true
  /// Why rows or counts could not be read; nil once they could be again. Reading is retried every second, except after
  /// `JobError.Code.closed`.
  public var error: (any Error)? { rowsError ?? countsError }

  private var rowsError: (any Error)?
  private var countsError: (any Error)?
  @ObservationIgnored private var watching: [Task<Void, Never>] = []

  /// Shows the jobs of a queue, by default newest first.
  public convenience init(
    _ queue: JobQueue, where filter: JobFilter = .all, detail: JobQuery.Detail = [],
    order: JobQuery.Order = .newestFirst, limit: Int = 100
  ) where Row == JobSnapshot {
    self.init(queue, filter, queue.snapshots(where: filter, detail: detail, order: order, limit: limit))
  }

  /// Shows the jobs of one kind with their payloads. Jobs whose payload does not decode are left out of the rows.
  public convenience init<P: JobPayload>(
    _ queue: JobQueue, of type: P.Type, where filter: JobFilter = .all, detail: JobQuery.Detail = [],
    order: JobQuery.Order = .newestFirst, limit: Int = 100
  ) where Row == TypedJobSnapshot<P> {
    let rows = queue.snapshots(of: type, where: filter, detail: detail, order: order, limit: limit)
    self.init(queue, .kind(type) && filter, rows)
  }

  private init(_ queue: JobQueue, _ filter: JobFilter, _ rows: JobSnapshots<[Row]>) {
    let clock = queue.store.clock
    // These tasks end when they are cancelled, which is when the list is released.
    watching = [
      Task { [weak self] in
        await rows.follow(clock) { rows in
          guard let self else { return }
          if let rows = self.told(rows, \.rowsError) { self.rows = rows }
          if self.isLoading { self.isLoading = false }
        }
      },
      Task { [weak self] in
        await queue.countSnapshots(where: filter).follow(clock) { counts in
          if let counts = self?.told(counts, \.countsError) { self?.counts = counts }
        }
      },
    ]
  }

  deinit { for task in watching { task.cancel() } }

  private func told<Value>(
    _ value: Result<Value, any Error>, _ error: ReferenceWritableKeyPath<JobList, (any Error)?>
  ) -> Value? {
    switch value {
    case .success(let value):
      if self[keyPath: error] != nil { self[keyPath: error] = nil }
      return value
    case .failure(let failure):
      self[keyPath: error] = failure
      return nil
    }
  }
}

extension JobSnapshots {
  /// Passes on each value, and errors in reading, until the task is cancelled or the store is closed.
  @MainActor
  fileprivate func follow(_ clock: any JobClock, _ tell: @MainActor (Result<Value, any Error>) -> Void) async {
    while !Task.isCancelled {
      do {
        for try await value in self { tell(.success(value)) }
        return
      } catch {
        guard !Task.isCancelled else { return }
        tell(.failure(error))
        if (error as? JobError)?.code == .closed { return }
        let gate = Gate()
        let timer = clock.schedule(after: .seconds(1)) { gate.open() }
        await gate.pass()
        timer.cancel()
      }
    }
  }
}
