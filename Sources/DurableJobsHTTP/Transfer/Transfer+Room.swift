#if HTTP
  import Foundation

  /// Room on the disk: for a file whose size is known before it comes, and for one of unknown size.
  extension Transfer {
    /// How often a file that can't be resumed, and may have no end, may fill the disk.
    static let mostShortages = 3

    func isUntold(_ part: PartFile) -> Bool { part.record.version.total == nil && download.size == nil }

    /// What did not fit once is not requested again until there is more room than then.
    func checkShortage(_ part: PartFile) throws {
      guard let shortage = part.record.shortage, let room = part.folder.room,
        room.free - room.reserve < shortage.room + Self.clearlyMore
      else { return }
      throw Setback.heldUp(
        by:
          "no room in \(part.folder.path): the file has more than \(shortage.room) bytes, and \(room.free) are free, of which "
          + "\(room.reserve) are left to others", for: .seconds(10))
    }

    /// Others write to the disk as well.
    private static let clearlyMore: Int64 = 1 << 20

    func hasNoEnd(_ shortage: PartRecord.Shortage, _ folder: Folder) -> DownloadError {
      DownloadError(
        .noRoom,
        "the file filled the disk of \(folder.path) \(shortage.rounds) times, at last with \(shortage.room) bytes; its server "
          + "doesn't say how long it is, and begins it anew each time. Fetch it into a folder on a larger disk")
    }

    func checkRoom(_ part: PartFile, until total: Int64?) throws {
      guard let total, total > part.length else { return }
      while let (room, others) = promises.make(part, total) {
        guard total <= room.all else {
          throw Setback.final(
            DownloadError(
              .noRoom,
              "the file has \(total) bytes, and the whole disk of \(part.folder.path) only \(room.all); fetch it into a folder on "
                + "another"))
        }
        let lacking = total - part.length - (room.free - room.reserve - others)
        guard !part.discardOther(ifItHas: lacking) else { continue }
        throw Setback.heldUp(
          by:
            "no room in \(part.folder.path): \(total - part.length) bytes are needed, and \(room.free) are free, of which "
            + "\(room.reserve) are left to others\(others > 0 ? ", and \(others) to downloads that run" : "")",
          for: .seconds(10))
      }
    }
  }
#endif
