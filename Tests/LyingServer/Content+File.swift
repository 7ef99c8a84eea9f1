#if HTTP
  import Foundation

  extension Content {
    /// Where the file at `path` begins to differ from this content, or nil if it is this content, byte for byte.
    public func firstDifference(inFileAt path: String) throws -> Int64? {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      let length = Int64(try file.seekToEnd())
      try file.seek(toOffset: 0)
      var offset: Int64 = 0
      while offset < min(length, size) {
        let end = min(length, size, offset + 1_048_576)
        let found = try file.read(upToCount: Int(end - offset)) ?? Data()
        var place = 0
        let differs = found.withUnsafeBytes { found in
          var differs = false
          forEachPiece(of: offset..<end) { piece in
            guard !differs else { return }
            differs = piece.withUnsafeReadableBytes { piece in
              place + piece.count > found.count
                || memcmp(piece.baseAddress!, found.baseAddress! + place, piece.count) != 0
            }
            if !differs { place += piece.readableBytes }
          }
          return differs
        }
        if differs {
          let wanted = bytes(offset + Int64(place)..<end)
          let same = zip(wanted, found.dropFirst(place)).prefix { $0 == $1 }.count
          return offset + Int64(place + same)
        }
        offset = end
      }
      return length == size ? nil : offset
    }

    /// This content as gzip holds it, uncompressed. Not for what does not fit into memory.
    public var gzipped: Content {
      let bytes = self.bytes
      var file: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
      var start = 0
      repeat {
        let end = min(bytes.count, start + 0xFFFF)
        let length = UInt16(end - start)
        file.append(end == bytes.count ? 1 : 0)
        file += Self.littleEndian(length) + Self.littleEndian(~length) + bytes[start..<end]
        start = end
      } while start < bytes.count
      return Content(bytes: file + Self.littleEndian(Self.crc32(bytes)) + Self.littleEndian(UInt32(bytes.count)))
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.littleEndian, Array.init)
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
      var crc: UInt32 = 0xFFFF_FFFF
      for byte in bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = (crc >> 1) ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
      }
      return ~crc
    }
  }
#endif
