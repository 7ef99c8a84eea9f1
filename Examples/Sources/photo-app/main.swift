// An app's model, in a module whose default isolation is the main actor, as new Xcode projects have it.
//
//   photo-app FOLDER PHOTO…   enqueues photos, shows them until all are done, and ends
//   photo-app FOLDER          goes on with those that are there
import DurableJobs
import DurableJobsApp
import DurableJobsSQLite
import Foundation
import Observation

/// What a job gives or takes in is used beside the main actor.
nonisolated struct Thumbnail: Codable, Sendable {
  var file: String
}

/// A job stays as it would be written anywhere.
struct Resize: Job {
  static let kind = "resize"
  var photo: String

  func run(in context: JobContext) async throws -> Thumbnail {
    print("resizing", photo)
    try context.report(progress: 0.5)
    try await Task.sleep(for: .seconds(1))  // the work
    return Thumbnail(file: "small-\(photo)")
  }
}

/// A plain class is the main actor's.
final class PhotoModel {
  let queue: JobQueue
  let photos: JobList<TypedJobSnapshot<Resize>>
  private let worker: JobWorker

  init(folder: String) throws {
    queue = JobQueue("photos", store: try SQLiteStore(path: "\(folder)/photos.sqlite"))
    photos = JobList(queue, of: Resize.self, order: .oldestFirst)
    worker = JobWorker(queue)
    worker.register(Resize.self)
  }

  func open() { worker.start() }
  func close() async { await worker.stop() }

  var text: String {
    photos.rows.map { "\($0.payload.photo) \($0.job.state == .succeeded ? "done" : "\($0.job.state)")" }
      .joined(separator: ", ")
  }

  /// Waits, as a view does, until something of what is shown has changed.
  func changes() async {
    await withCheckedContinuation { changed in
      withObservationTracking {
        _ = (photos.rows, photos.counts)
      } onChange: {
        changed.resume()
      }
    }
  }
}

let arguments = CommandLine.arguments.dropFirst()
guard let folder = arguments.first else {
  print("usage: photo-app FOLDER [PHOTO …]")
  exit(2)
}
let model = try PhotoModel(folder: folder)
for photo in arguments.dropFirst() { try await model.queue.enqueue(Resize(photo: photo)) }
model.open()
while model.photos.isLoading || model.photos.rows.isEmpty
  || model.photos.rows.contains(where: { !$0.job.state.isFinished })
{
  await model.changes()
  print(model.text)
}
print(model.text)
await model.close()
