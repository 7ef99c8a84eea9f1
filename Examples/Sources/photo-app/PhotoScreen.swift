import DurableJobs
import DurableJobsApp
import DurableJobsSQLite
import Foundation
import Observation

/// What a screen of uploads shows, and what can be done there. In a module whose default isolation is the main actor, a plain
/// class is the main actor's, and a view that reads it is drawn anew when what it has read changes:
///
///     List(screen.photos) { photo in
///       ProgressView(photo.name, value: photo.fraction)
///       if photo.canBeRetried { Button("Try again") { Task { await screen.retry(photo) } } }
///     }
///     .navigationTitle(screen.title)
@Observable
final class PhotoScreen {
  struct Photo: Identifiable, Equatable {
    var id: JobID
    var name: String
    var fraction: Double
    var state: JobState
    var words: String

    var canBeRetried: Bool { state == .failed }
  }

  /// What went wrong when somebody asked for something.
  private(set) var trouble: String?

  private let queue: JobQueue
  private let worker: JobWorker
  private let uploads: JobList<TypedJobSnapshot<UploadPhoto>>

  init(folder: String) throws {
    queue = JobQueue("photos", store: try SQLiteStore(path: "\(folder)/photos.sqlite"))
    uploads = JobList(queue, of: UploadPhoto.self, detail: .failures, order: .oldestFirst)
    worker = JobWorker(queue)
    worker.register(UploadPhoto.self)
  }

  func open() { worker.start() }
  func close() async { await worker.stop() }

  // MARK: What is shown

  /// It follows the store: what another process uploads is seen here too, and what this one did before it was killed.
  var photos: [Photo] { uploads.rows.map { Photo($0) } }

  var title: String {
    let failed = photos.count { $0.canBeRetried }
    return "\(photos.count { $0.state == .succeeded }) of \(photos.count) photos are uploaded"
      + (failed > 0 ? ", \(failed) failed" : "")
  }

  var isBusy: Bool { uploads.isLoading || photos.contains { !$0.state.isFinished } }

  // MARK: What can be done

  /// They are stored when this returns, whatever becomes of the app then.
  func upload(_ names: [String]) async {
    await trying { try await queue.enqueue(contentsOf: names.map { UploadPhoto(name: $0) }) }
  }

  func retry(_ photo: Photo) async { await trying { try await queue.retry(photo.id) } }
  func cancel(_ photo: Photo) async { await trying { try await queue.cancel(photo.id) } }

  private func trying<Result>(_ deed: () async throws -> Result) async {
    do {
      _ = try await deed()
      trouble = nil
    } catch {
      trouble = "\(error)"
    }
  }
}

extension PhotoScreen.Photo {
  init(_ upload: TypedJobSnapshot<UploadPhoto>) {
    let job = upload.job
    id = job.id
    name = upload.payload.name
    fraction = job.state == .succeeded ? 1 : job.progress?.fraction ?? 0
    state = job.state
    words =
      switch state {
      case .succeeded: "uploaded"
      case .running: "\(Int(fraction * 100)) %"
      case .failed: job.failures.last?.message ?? "failed"
      case .scheduled: "is tried again later"
      default: "waits"
      }
  }
}
