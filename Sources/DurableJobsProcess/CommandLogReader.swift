#if Process
  import Foundation

  /// Reads the log of a run from where it left off, also while it is being written.
  public struct CommandLogReader: Sendable {
    public enum Part: Hashable, Sendable {
      case bytes(Data)
      /// This many bytes are missing here: only the beginning and the end of a long log are kept, and nothing is
      /// written while the disk is full.
      case leftOut(Int)
    }

    private let path: String
    /// Where the piece that is being read begins.
    private var piece = 0
    package private(set) var position = 0
    private var toldPosition = 0

    package init(path: String) { self.path = path }

    /// The next part of what has been written, at most 256 KB. Nil if there is no more for now.
    public mutating func next() -> Part? {
      if let data = readPiece() { return .bytes(data) }
      guard let next = starts.filter({ $0 > piece }).min() else { return nil }
      // What was added to the piece before the next one was begun.
      if let data = readPiece() { return .bytes(data) }
      let missing = next - position
      piece = next
      position = next
      return missing > 0 ? .leftOut(missing) : self.next()
    }

    /// Notes that what was read so far may be dropped, for callers that run a command whose output waits for that. Call
    /// it again until there is more to read: the note may fail for now.
    package mutating func tellFollowed() {
      guard position > CappedLog.half, position > toldPosition else { return }
      let note = URL(filePath: CappedLog.followerNote(path))
      if (try? Data("\(position)".utf8).write(to: note, options: .atomic)) != nil { toldPosition = position }
    }

    /// Up to where it is written by now.
    package var end: Int {
      var status = stat()
      let last = starts.max() ?? 0
      return stat(CappedLog.piece(path, last), &status) == 0 ? last + Int(status.st_size) : last
    }

    private mutating func readPiece() -> Data? {
      guard let file = FileHandle(forReadingAtPath: CappedLog.piece(path, piece)) else { return nil }
      defer { try? file.close() }
      guard (try? file.seek(toOffset: UInt64(position - piece))) != nil,
        let data = try? file.read(upToCount: 256 * 1024), !data.isEmpty
      else { return nil }
      position += data.count
      return data
    }

    /// Where the pieces of the tail begin.
    private var starts: [Int] {
      let url = URL(fileURLWithPath: path)
      let prefix = url.lastPathComponent + "."
      let names = try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
      return names?.compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil } ?? []
    }
  }
#endif
