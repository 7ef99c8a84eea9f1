#if HTTP
  import DurableJobs
  import Foundation

  /// The flushes of one folder, for all who have it open here. Of a long list each file gets its name in it: those whose
  /// names came while it was being flushed wait for one flush more, and not for one each.
  final class FolderFlush: Sendable {
    private struct Place: Hashable {
      let device: UInt64
      let inode: UInt64
    }

    private struct Weak {
      weak let flush: FolderFlush?
    }

    private struct State {
      /// How often a flush was asked for, and how many of those are done.
      var (asked, done) = (0, 0)
      var hasFailed = false
    }

    private static let all = Lock<[Place: Weak]>([:])

    private let flushShared: @Sendable () -> Bool
    private let state = Lock(State())
    private let turn = NSLock()

    /// `flushing` returns whether the folder was flushed.
    init(_ flushing: @escaping @Sendable () -> Bool) { flushShared = flushing }

    /// Of that open folder, which has to stay open as long as this is kept: a number is given again.
    static func of(_ folder: Descriptor, _ status: FileStatus) -> FolderFlush {
      let place = Place(device: status.device, inode: status.inode)
      return all.withLock { all in
        if let flush = all[place]?.flush { return flush }
        all = all.filter { $0.value.flush != nil }
        let shared = Descriptor(openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        let flush = FolderFlush { shared.flushesNames }
        all[place] = Weak(flush: flush)
        return flush
      }
    }

    var asked: Int { state.value.asked }

    /// Returns once the folder was flushed after this was called, for this caller or for another one.
    ///
    /// The system tells of a failure once to each who had the folder open. So what is shared has it open for longer than any of
    /// them, and once it has failed each goes by `alone`, its own flush.
    func flush(_ alone: () throws -> Void) rethrows {
      let number = state.withLock { state in
        state.asked += 1
        return state.asked
      }
      let isDone = turn.withLock {
        let now = state.value
        if now.hasFailed || now.done >= number { return !now.hasFailed }
        let isFlushed = flushShared()
        state.withLock { if isFlushed { $0.done = now.asked } else { $0.hasFailed = true } }
        return isFlushed
      }
      if !isDone { try alone() }
    }
  }

  extension Descriptor {
    /// Makes new and removed names in this folder survive a power cut, where its file system can. Returns false with the reason
    /// in `errno`.
    var flushesNames: Bool { fsync(number) == 0 || errno == EINVAL }
  }
#endif
