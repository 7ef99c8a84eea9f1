#if HTTP
  import Foundation
  import NIOCore

  /// What a file holds: a few given bytes, or any number that follow from a seed and are never all in memory.
  ///
  /// Generated content is made of blocks of the same noise, each of which begins with a stamp of its own: cheap to make, and
  /// a byte in the wrong place is noticed.
  public struct Content: Hashable, Sendable, CustomStringConvertible {
    private enum Source: Hashable {
      case given([UInt8])
      case generated(seed: UInt64)
    }

    private let source: Source
    public let size: Int64

    public init(_ size: Int64, seed: UInt64 = 1) {
      source = .generated(seed: seed)
      self.size = size
    }

    public init(bytes: some Sequence<UInt8>) {
      let bytes = Array(bytes)
      source = .given(bytes)
      size = Int64(bytes.count)
    }

    public init(_ text: String) { self.init(bytes: text.utf8) }

    public var description: String {
      switch source {
      case .given: "\(size) given bytes"
      case .generated(let seed): "\(size) bytes of seed \(seed)"
      }
    }

    /// The bytes of `range`, which must lie within the content.
    public func bytes(_ range: Range<Int64>) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(range.count)
      forEachPiece(of: range) { bytes += $0.readableBytesView }
      return bytes
    }

    public var bytes: [UInt8] { bytes(0..<size) }

    /// The next piece of `range`: at most a block of it, mostly without a copy, in one or two buffers.
    func piece(of range: Range<Int64>) -> (buffers: [ByteBuffer], count: Int64) {
      switch source {
      case .given(let bytes):
        return ([ByteBuffer(bytes: bytes[Int(range.lowerBound)..<Int(range.upperBound)])], Int64(range.count))
      case .generated(let seed):
        let (block, start) = range.lowerBound.quotientAndRemainder(dividingBy: Self.blockSize)
        let end = min(Self.blockSize, start + Int64(range.count))
        var buffers: [ByteBuffer] = []
        if start < 8 {
          let stamp = ByteBuffer(integer: Self.mix(seed &* 0x9E37_79B9 &+ UInt64(block)))
          buffers.append(stamp.getSlice(at: Int(start), length: Int(min(8, end) - start))!)
        }
        if end > 8 {
          let from = max(8, start)
          let shift = Int64(Self.mix(seed) % UInt64(Self.blockSize))
          buffers.append(Self.noise.getSlice(at: Int(shift + from), length: Int(end - from))!)
        }
        return (buffers, end - start)
      }
    }

    func forEachPiece(of range: Range<Int64>, _ body: (ByteBuffer) throws -> Void) rethrows {
      var start = range.lowerBound
      while start < range.upperBound {
        let (buffers, count) = piece(of: start..<range.upperBound)
        for buffer in buffers { try body(buffer) }
        start += count
      }
    }

    /// Hands out the whole content, in order.
    public func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
      try forEachPiece(of: 0..<size) { try $0.withUnsafeReadableBytes(body) }
    }

    private static let blockSize: Int64 = 65_536

    private static let noise: ByteBuffer = {
      var noise = ByteBuffer()
      for number in 0..<UInt64(2 * blockSize / 8) { noise.writeInteger(mix(number &+ 0xD1B5_4A32)) }
      return noise
    }()

    /// A bijection of 64 bits that leaves no pattern.
    private static func mix(_ number: UInt64) -> UInt64 {
      var x = number &+ 0x9E37_79B9_7F4A_7C15
      x = (x ^ (x >> 30)) &* 0xBF58_476D_1CE4_E5B9
      x = (x ^ (x >> 27)) &* 0x94D0_49BB_1331_11EB
      return x ^ (x >> 31)
    }
  }
#endif
