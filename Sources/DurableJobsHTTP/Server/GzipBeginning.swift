#if HTTP
  /// The first bytes of a gzip file's contents, from the first bytes of that file. RFC 1951 and 1952.
  ///
  /// The client's decoder belongs to a connection; this one tells what that would return.
  struct GzipBeginning {
    /// Whether a gzip file contains a gzip file; nil if more of its bytes are needed.
    static func isPackedTwice(_ beginning: some Sequence<UInt8>) -> Bool? {
      let bytes = Array(beginning.prefix(most))
      var file = GzipBeginning(bytes: bytes)
      do {
        try file.skipHead()
        return try file.contents(magic.count) == magic
      } catch Stop.lacksBytes {
        return bytes.count < most ? nil : false
      } catch {
        return false
      }
    }

    /// Whether it is no gzip file; nil if more of its bytes are needed.
    static func isOther(_ beginning: some Sequence<UInt8>) -> Bool? {
      let bytes = Array(beginning.prefix(magic.count))
      guard magic.starts(with: bytes) else { return true }
      return bytes.count < magic.count ? nil : false
    }

    private static let magic: [UInt8] = [0x1f, 0x8b, 8]
    /// The names and tables that come first are usually shorter.
    private static let most = 4096

    private enum Stop: Error { case lacksBytes, isOther }

    private let bytes: [UInt8]
    /// In bits.
    private var place = 0

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func skipHead() throws {
      guard try Self.magic.allSatisfy({ try bits(8) == $0 }) else { throw Stop.isOther }
      let flags = try bits(8)
      place += 6 * 8
      if flags & 4 != 0 { place += try bits(16) * 8 }
      for flag in [8, 16] where flags & flag != 0 {
        while try bits(8) != 0 {}
      }
      if flags & 2 != 0 { place += 16 }
    }

    /// The first `count` bytes, if none of them repeats another.
    private mutating func contents(_ count: Int) throws -> [UInt8] {
      var found: [UInt8] = []
      var isLast = false
      while !isLast {
        isLast = try bits(1) == 1
        switch try bits(2) {
        case 0:
          place = (place + 7) / 8 * 8
          let length = try bits(16)
          place += 16
          for _ in 0..<length where found.count < count { found.append(UInt8(try bits(8))) }
        case 1: try takeLiterals(.fixed, &found, count)
        case 2: try takeLiterals(code(), &found, count)
        default: throw Stop.isOther
        }
        if found.count == count { return found }
      }
      throw Stop.isOther
    }

    /// Up to the end of a block.
    private mutating func takeLiterals(_ code: Code, _ found: inout [UInt8], _ count: Int) throws {
      while found.count < count {
        let symbol = try symbol(code)
        if symbol == 256 { return }
        guard let literal = UInt8(exactly: symbol) else { throw Stop.isOther }
        found.append(literal)
      }
    }

    // MARK: Codes

    /// A canonical Huffman code.
    private struct Code {
      /// How many symbols there are of each length.
      let counts: [Int]
      /// By length, and then in order.
      let symbols: [Int]

      init(_ lengths: [Int]) {
        counts = (0...15).map { length in lengths.count { $0 == length } }
        symbols = (1...15).flatMap { length in lengths.indices.filter { lengths[$0] == length } }
      }

      static let fixed = Code(
        [(144, 8), (112, 9), (24, 7), (8, 8)].flatMap { [Int](repeating: $0.1, count: $0.0) })
    }

    /// The code of the literals of the block that begins.
    private mutating func code() throws -> Code {
      let (literals, distances, ranks) = (try bits(5) + 257, try bits(5) + 1, try bits(4) + 4)
      var lengths = [Int](repeating: 0, count: 19)
      for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(ranks) {
        lengths[symbol] = try bits(3)
      }
      let code = Code(lengths)
      lengths = []
      while lengths.count < literals + distances {
        switch try symbol(code) {
        case 16:
          guard let last = lengths.last else { throw Stop.isOther }
          lengths += repeatElement(last, count: try bits(2) + 3)
        case 17: lengths += repeatElement(0, count: try bits(3) + 3)
        case 18: lengths += repeatElement(0, count: try bits(7) + 11)
        case let length: lengths.append(length)
        }
      }
      return Code(Array(lengths.prefix(literals)))
    }

    private mutating func symbol(_ code: Code) throws -> Int {
      var (value, first, index) = (0, 0, 0)
      for count in code.counts.dropFirst() {
        value = try value << 1 | bits(1)
        if (0..<count).contains(value - first) { return code.symbols[index + value - first] }
        (index, first) = (index + count, (first + count) << 1)
      }
      throw Stop.isOther
    }

    /// The lowest bit comes first.
    private mutating func bits(_ count: Int) throws -> Int {
      guard place + count <= bytes.count * 8 else { throw Stop.lacksBytes }
      defer { place += count }
      return (place..<place + count).reversed().reduce(0) { $0 << 1 | Int(bytes[$1 / 8] >> UInt8($1 % 8) & 1) }
    }
  }
#endif
