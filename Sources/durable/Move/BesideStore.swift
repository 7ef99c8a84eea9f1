#if Shell
  import DurableJobs
  import Foundation

  /// What stands beside a store and is of its jobs: the logs of commands, and the bodies of requests that are in files.
  enum BesideStore {
    private static let kinds = ["-jobs", "-outbox"]

    /// The folders that there are of the store at `path`.
    static func folders(of path: String) -> [String] {
      kinds.map { path + $0 }.filter { FileManager.default.fileExists(atPath: $0) }
    }

    /// Copies them for the store at `target`. What was there already goes.
    static func copy(from path: String, to target: String) throws {
      for kind in kinds {
        let (folder, copy) = (path + kind, target + kind)
        let files = FileManager.default
        guard files.fileExists(atPath: folder) else { continue }
        do {
          if files.fileExists(atPath: copy) { try files.removeItem(atPath: copy) }
          try files.copyItem(atPath: folder, toPath: copy)
        } catch {
          throw JobError(.unusableFile, "\(folder) can't be copied to \(copy): \(error.briefly)", cause: error)
        }
      }
    }
  }
#endif
