#if Process
  import DurableJobs
  import Foundation

  /// Carries one output of a command into its log, on a thread of its own, until nobody can write to it any more.
  final class LogPump: Sendable {
    /// Where the command is to write. To be closed here once the command has it.
    let writeEnd: Int32
    private let state: Lock<(log: CappedLog, isDone: Bool)>

    init(_ path: String) throws {
      let ends = try Pipe.closedOnExec()
      writeEnd = ends.write
      state = Lock((try CappedLog(path: path), false))
      Thread.detachNewThread { [self] in
        carry(from: ends.read)
      }
    }

    var isDone: Bool { state.withLock { $0.isDone } }
    var lastLine: String? { state.withLock { $0.log.lastLine } }

    private func carry(from readEnd: Int32) {
      withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { buffer in
        while true {
          let count = read(readEnd, buffer.baseAddress, buffer.count)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { break }
          state.withLock { $0.log.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        }
      }
      state.withLock { $0.isDone = true }
    }
  }

  /// Two descriptors, of which the system carries bytes from one to the other.
  enum Pipe {
    /// A pipe that no program inherits unless it is meant to.
    static func closedOnExec() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { throw SystemError("can't make a pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return (ends[0], ends[1])
    }
  }
#endif
