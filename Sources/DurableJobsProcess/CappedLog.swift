#if Process
  import DurableJobs
  import Foundation

  /// A log that takes anything and keeps the beginning and the end: a file with the head, and beside it the tail in pieces,
  /// of which the oldest are deleted.
  ///
  /// A piece's number tells where it begins, so what was left out is known also after the writer was killed.
  package struct CappedLog {
    /// Bytes of the head, and of the tail at most.
    package static let half = 5 * 1024 * 1024
    package static let pieceSize = 1024 * 1024
    package static let pieces = half / pieceSize

    private let path: String
    private var file: Int32
    private var room = half
    private var piece = -1
    /// The end of what was written, for error messages.
    private(set) var end: [UInt8] = []

    package init(path: String) throws {
      self.path = path
      file = try Self.create(path)
    }

    /// Throws away what the disk has no room for: the command goes on.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
      end.append(contentsOf: bytes.suffix(4096))
      if end.count > 8192 { end.removeFirst(end.count - 4096) }
      var rest = bytes[...]
      while !rest.isEmpty {
        if room == 0 { nextPiece() }
        let part = rest.prefix(room)
        var written = 0
        while written < part.count {
          let count = write(file, part.base.baseAddress! + part.startIndex + written, part.count - written)
          if count < 0, errno == EINTR { continue }
          if count <= 0 { break }
          written += count
        }
        room -= part.count
        rest = rest.dropFirst(part.count)
      }
    }

    /// The last line with something in it.
    package var lastLine: String? {
      String(decoding: end, as: UTF8.self).split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }
        .map(String.init)
    }

    private mutating func nextPiece() {
      close(file)
      piece += 1
      unlink(Self.piece(path, piece - Self.pieces))
      file = (try? Self.create(Self.piece(path, piece))) ?? -1
      room = Self.pieceSize
    }

    private static func create(_ path: String) throws -> Int32 {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw SystemError("can't write \(path)") }
      return file
    }

    package static func piece(_ path: String, _ number: Int) -> String { "\(path).\(number)" }
  }

  /// Reads a ``CappedLog`` from where it left off, also while it is written.
  package struct CappedLogReader {
    package enum Part {
      case bytes(Data)
      /// So many bytes are gone.
      case leftOut(Int)
    }

    private let path: String
    private var position = 0

    package init(path: String) { self.path = path }

    /// What is there and was not read yet, in parts that fit in memory, each given to `body`.
    package mutating func read(_ body: (Part) throws -> Void) rethrows {
      while true {
        if position < CappedLog.half {
          guard let data = Self.read(path, from: position) else { return }
          position += data.count
          try body(.bytes(data))
          continue
        }
        let place = position - CappedLog.half
        let piece = place / CappedLog.pieceSize
        if let data = Self.read(CappedLog.piece(path, piece), from: place % CappedLog.pieceSize) {
          position += data.count
          try body(.bytes(data))
        } else if let oldest = oldestPiece, oldest > piece {
          let next = CappedLog.half + oldest * CappedLog.pieceSize
          try body(.leftOut(next - position))
          position = next
        } else {
          return
        }
      }
    }

    private var oldestPiece: Int? {
      let url = URL(fileURLWithPath: path)
      let prefix = url.lastPathComponent + "."
      let names = try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
      return names?.compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }.min()
    }

    /// Nil if there is nothing from there on.
    private static func read(_ path: String, from offset: Int) -> Data? {
      guard let file = FileHandle(forReadingAtPath: path) else { return nil }
      defer { try? file.close() }
      guard (try? file.seek(toOffset: UInt64(offset))) != nil,
        let data = try? file.read(upToCount: 256 * 1024), !data.isEmpty
      else { return nil }
      return data
    }
  }
#endif
