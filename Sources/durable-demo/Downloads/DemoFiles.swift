#if Shell
  import DurableJobsHTTP
  import Foundation

  /// The files that the demo's server offers. None is stored: each byte follows from its file's number and its place.
  struct DemoFiles: Hashable, Sendable {
    let count: Int
    /// Of each file, in bytes.
    let size: Int

    /// A megabyte each, or less where so many would be too much for a temporary folder.
    init(count: Int, size: Int? = nil) {
      self.count = count
      // Of round numbers a step is a round part.
      self.size = size ?? min(1000, 50_000 / count) * 1000
    }

    var totalSize: Int { count * size }
    var numbers: ClosedRange<Int> { 1...count }

    /// As in "file-007".
    static func name(_ number: Int) -> String { "file-" + String("00\(number)".suffix(3)) }

    /// The number of the file with that name.
    func number(named name: some StringProtocol) -> Int? {
      guard let number = Int(name.dropFirst("file-".count)), numbers.contains(number), Self.name(number) == name else {
        return nil
      }
      return number
    }

    func bytes(of number: Int, in range: Range<Int>) -> [UInt8] {
      let first = range.lowerBound / 8
      let end = (range.upperBound + 7) / 8
      let seed = UInt64(number) << 40
      let words = [UInt64](unsafeUninitializedCapacity: end - first) { words, count in
        for index in 0..<end - first { words[index] = Self.word(seed &+ UInt64(first &+ index)).littleEndian }
        count = end - first
      }
      return words.withUnsafeBytes { Array($0[range.lowerBound - first * 8..<range.upperBound - first * 8]) }
    }

    /// In hexadecimal.
    func sha256(of number: Int) -> String { Self.sha256(bytes(of: number, in: 0..<size)) }

    static func sha256(_ bytes: some DataProtocol) -> String {
      SHA256.hash(data: bytes).map { String("0" + String($0, radix: 16)).suffix(2) }.joined()
    }

    /// Numbers that look random, one for each `index`: the mixing function of SplitMix64.
    private static func word(_ index: UInt64) -> UInt64 {
      var word = index &* 0x9e37_79b9_7f4a_7c15
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      return word ^ word >> 31
    }
  }
#endif
