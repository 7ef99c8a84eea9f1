#if Process
  import DurableJobs
  import DurableJobsSystem
  import Foundation

  /// A log that takes anything and keeps the beginning and the end: a file with the head, and beside it the tail in
  /// pieces, of which the oldest are deleted.
  ///
  /// It leaves the room that the store beside it may need. A piece is named by where it begins in all that was written,
  /// so gaps are known, whether deleted or lost to a full disk, even after the writer was killed.
  package struct CappedLog {
    /// Bytes of the head, and the most bytes of the tail.
    package static let half = 5 * 1024 * 1024
    package static let pieceSize = 1024 * 1024
    package static let pieces = half / pieceSize

    private let path: String
    /// Nothing is dropped that its follower has not read.
    private let isFollowed: Bool
    /// How many bytes were given to it.
    private var position = 0
    private var piece: Piece?
    /// Where the existing pieces of the tail begin.
    private var tail: [Int] = []
    /// The latest bytes found no room.
    private var isCut = false
    /// The end of what was written, for error messages.
    private var end: [UInt8] = []

    private struct Piece {
      let file: Int32
      let start: Int
      var room: Int
    }

    package init(path: String, isFollowed: Bool = false) {
      self.path = path
      self.isFollowed = isFollowed
      beginPiece()
      let spare = open(self.spare, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      if spare >= 0 { close(spare) }
    }

    /// Whether its follower is so far behind that no more should come.
    package mutating func isAhead() -> Bool {
      guard isFollowed, tail.count > Self.pieces else { return false }
      dropOldest()
      return tail.count > Self.pieces
    }

    /// Where a follower notes how much it has read.
    static func followerNote(_ path: String) -> String { path + ".read" }

    private mutating func dropOldest() {
      guard tail.count > Self.pieces else { return }
      var limit = Int.max
      if isFollowed {
        let note = FileManager.default.contents(atPath: Self.followerNote(path))
        limit = note.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      }
      while tail.count > Self.pieces, tail[1] <= limit { unlink(Self.piece(path, tail.removeFirst())) }
    }

    /// Drops what the disk has no room for: the command goes on.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
      noteEnd(bytes)
      var rest = bytes[...]
      while !rest.isEmpty {
        if piece == nil || piece!.room == 0 {
          beginPiece()
          dropOldest()
        }
        let part = rest.prefix(piece?.room ?? rest.count)
        if let piece {
          let written =
            !Self.hasRoom(for: part.count, piece.file)
            ? 0 : Descriptors.write(UnsafeRawBufferPointer(rebasing: part), to: piece.file)
          self.piece!.room -= part.count
          isCut = written < part.count
          // A piece cut short at its start is not kept: little by little, such pieces would replace the whole tail.
          if isCut { endPiece(isKept: position > piece.start) }
        } else {
          isCut = true
        }
        position += part.count
        rest = rest.dropFirst(part.count)
      }
    }

    /// A longer line is not kept whole.
    static let mostOfLine = 1 << 16

    private mutating func noteEnd(_ bytes: UnsafeRawBufferPointer) {
      end.append(contentsOf: bytes.suffix(Self.mostOfLine + 1))
      // Not with each piece, because what stays has to be moved.
      if end.count > 4 * Self.mostOfLine { end.removeFirst(end.count - Self.mostOfLine - 1) }
    }

    /// Nothing follows. If the end found no room, an empty piece records how much it was.
    package mutating func finish() {
      if isCut { beginPiece() }
      if isCut, piece == nil { rename(spare, Self.piece(path, position)) } else { unlink(spare) }
      endPiece(isKept: true)
    }

    /// An empty file to become that piece if the disk takes no more files.
    private var spare: String { path + ".spare" }

    /// The last line that is not empty, or the one before where it only says where help is, as GNU's programs do, and this
    /// one. Not one whose beginning is missing: secrets would no longer be recognized in it.
    package var lastLine: String? {
      let kept = end.suffix(Self.mostOfLine + 1)
      let lines = String(decoding: kept, as: UTF8.self).split(
        omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      let whole = lines.dropFirst(kept.count > Self.mostOfLine ? 1 : 0)
      let last = whole.reversed().lazy.filter { !$0.allSatisfy(\.isWhitespace) }.prefix(2)
      let isHint = last.first?.prefixMatch(of: /(Try|See) ['‘`].* --help/) != nil
      return ((isHint ? last.dropFirst().first : nil) ?? last.first).map(String.init)
    }

    private static func hasRoom(for count: Int, _ file: Int32) -> Bool {
      var disk = statvfs()
      return fstatvfs(file, &disk) != 0 || hasRoom(for: count, on: disk)
    }

    static func hasRoom(for count: Int, on disk: statvfs) -> Bool {
      DiskRoom(disk).map { $0.free - Int64(count) >= $0.reserve } ?? true
    }

    private mutating func beginPiece() {
      endPiece(isKept: true)
      let file = open(Self.piece(path, position), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard file >= 0 else { return }
      piece = Piece(file: file, start: position, room: position == 0 ? Self.half : Self.pieceSize)
      if position > 0 { tail.append(position) }
    }

    private mutating func endPiece(isKept: Bool) {
      guard let piece else { return }
      close(piece.file)
      if !isKept {
        unlink(Self.piece(path, piece.start))
        if tail.last == piece.start { tail.removeLast() }
      }
      self.piece = nil
    }

    /// The file of the piece that begins there.
    static func piece(_ path: String, _ start: Int) -> String { start == 0 ? path : "\(path).\(start)" }
  }
#endif
