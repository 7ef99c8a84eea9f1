import DurableJobs
import Foundation

/// What a job gives or takes in is used beside the main actor.
nonisolated struct RemotePhoto: Codable, Sendable {
  var url: URL
}

/// A job stays as it would be written anywhere.
struct UploadPhoto: Job {
  static let kind = "upload-photo"
  var name: String

  func run(in context: JobContext) async throws -> RemotePhoto {
    for quarter in 0..<4 {
      print("uploading \(name), \(quarter * 25) %")
      try context.report(progress: Double(quarter) / 4)
      try await Task.sleep(for: .milliseconds(250))  // the network
    }
    return RemotePhoto(url: URL(filePath: "/photos/\(name)"))
  }
}
