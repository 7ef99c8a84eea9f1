#if HTTP
  import DurableJobs
  import DurableJobsSystem

  /// The room that running downloads need on each file system for what is still to come of their files: what one was
  /// promised, no other begins to fill. Downloads of other processes are not known here.
  final class RoomPromises: Sendable {
    private struct Promise {
      let part: PartFile
      let total: Int64

      var rest: Int64 { max(total - part.length, 0) }
    }

    private let promises = Lock<[ObjectIdentifier: Promise]>([:])

    /// Promises `part` room for a file of `total` bytes, until ``end(_:)``. Returns what lacks, if there is not enough.
    func make(_ part: PartFile, _ total: Int64) -> (room: DiskRoom, others: Int64)? {
      promises.withLock { promises in
        let own = Promise(part: part, total: total)
        let others = promises.values.reduce(Int64(0)) { sum, promise in
          guard promise.part !== part, promise.part.folder.device == part.folder.device else { return sum }
          return sum + min(promise.rest, .max - sum)
        }
        // Looked at last: what others write meanwhile is counted twice rather than never.
        guard let room = part.folder.room, room.free - room.reserve - others < own.rest else {
          promises[ObjectIdentifier(part)] = own
          return nil
        }
        return (room, others)
      }
    }

    func end(_ part: PartFile) { _ = promises.withLock { $0.removeValue(forKey: ObjectIdentifier(part)) } }
  }
#endif
