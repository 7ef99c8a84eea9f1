#if Shell
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// Real files and real commands for the demo, in a scratch folder of its own.
  struct DemoMaterial {
    struct Piece: Sendable {
      enum Check: Sendable {
        /// The command prints this as its first words.
        case prints(String)
        /// Unpacking this file with this program gives the original.
        case unpacks(String, with: String)
      }

      var arguments: [String]
      /// The original, and its checksum as the demo itself computed it.
      var file: String
      var sum: Checksum
      var check: Check
    }

    static let mostFiles = 12
    static let mostBytes = 20 * 1024 * 1024
    /// Large enough to be met at work, small enough to be done soon.
    static let sizes = 400 * 1024...3000 * 1024

    let folder: String
    let pieces: [Piece]
    let bytes: Int
    let files: Int

    /// The store that the commands go into.
    var store: String { folder + "/jobs.sqlite" }

    func jobFolder(_ id: JobID) -> JobFolder { JobFolder(store: store, id: id) }

    init(in folder: String) {
      self.folder = folder
      let packers = [("gzip", "gz"), ("xz", "xz"), ("bzip2", "bz2")].filter { Self.find($0.0) != nil }.prefix(2)
      var pieces: [Piece] = []
      var bytes = 0
      var files = 0
      for source in Self.sources() {
        guard files < Self.mostFiles, let data = FileManager.default.contents(atPath: source),
          bytes + data.count <= Self.mostBytes
        else { continue }
        let file = "\(folder)/\((source as NSString).lastPathComponent)"
        guard !FileManager.default.fileExists(atPath: file),
          FileManager.default.createFile(atPath: file, contents: data)
        else { continue }
        var sum = Checksum()
        data.withUnsafeBytes { sum.add($0) }
        let name = (file as NSString).lastPathComponent
        pieces.append(Piece(arguments: ["cksum", name], file: name, sum: sum, check: .prints(sum.asPrinted)))
        for (program, suffix) in packers {
          pieces.append(
            Piece(
              arguments: [program, "-kf9", name], file: name, sum: sum,
              check: .unpacks("\(file).\(suffix)", with: program)))
        }
        bytes += data.count
        files += 1
      }
      self.pieces = pieces
      self.bytes = bytes
      self.files = files
    }

    /// Files of the system that have the right size, the toolchain's before others.
    private static func sources() -> [String] {
      var folders = ["/usr/share/doc", "/usr/lib", "/usr/share", "/usr/bin", "/System/Library"]
      if let swift = find("swift"), let real = realpath(swift, nil) {
        defer { free(real) }
        let toolchain = ((String(cString: real) as NSString).deletingLastPathComponent as NSString)
          .deletingLastPathComponent
        folders = [toolchain + "/lib/swift", toolchain + "/share"] + folders
      }
      var found: [String] = []
      for folder in folders where found.count < mostFiles * 3 {
        let keys: Set<URLResourceKey> = [.isRegularFileKey, .fileSizeKey]
        let walk = FileManager.default.enumerator(
          at: URL(fileURLWithPath: folder), includingPropertiesForKeys: Array(keys))
        var looked = 0
        while found.count < mostFiles * 3, looked < 20_000, let url = walk?.nextObject() as? URL {
          looked += 1
          guard let values = try? url.resourceValues(forKeys: keys), values.isRegularFile == true,
            let size = values.fileSize, sizes.contains(size), access(url.path, R_OK) == 0
          else { continue }
          found.append(url.path)
        }
      }
      return found
    }

    private static func find(_ program: String) -> String? {
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }
  }

  /// The checksum that POSIX gives `cksum`.
  struct Checksum: Hashable, Sendable {
    private var state: UInt32 = 0
    private var count = 0

    private static let table: [UInt32] = (0..<256).map { index in
      (0..<8).reduce(UInt32(index) << 24) { sum, _ in sum & 0x8000_0000 == 0 ? sum << 1 : sum << 1 ^ 0x04c1_1db7 }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
      var state = state
      Self.table.withUnsafeBufferPointer { table in
        for byte in bytes { state = state << 8 ^ table[Int(truncatingIfNeeded: state >> 24 ^ UInt32(byte))] }
      }
      self.state = state
      count += bytes.count
    }

    /// "SUM LENGTH", as `cksum` prints it.
    var asPrinted: String {
      var copy = self
      var rest = count
      while rest > 0 {
        withUnsafeBytes(of: UInt8(truncatingIfNeeded: rest)) { copy.add($0) }
        rest >>= 8
      }
      return "\(~copy.state) \(count)"
    }
  }
#endif
