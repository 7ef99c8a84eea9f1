#if HTTP
  import Foundation

  /// Tells of a file that is read, or copied, whether all that came of it is of one version.
  struct SteadyFile: Sendable {
    /// When it was first looked at.
    let status: FileStatus
    private let file: Descriptor
    private let path: String
    private let first: [UInt8]
    private let last: [UInt8]

    /// To be made before its first byte is read. Throws ``DownloadError``.
    init(_ file: Descriptor, _ path: String) throws {
      (self.file, self.path) = (file, path)
      status = try FileStatus(of: file, path)
      // What can't be read is told by who reads it all.
      (first, last) = (status.isRegular ? try? Self.ends(of: file, status.size, path) : nil) ?? ([], [])
    }

    /// Whether nothing has changed, or something was only added to it, as to a log: then its first and its last bytes are
    /// as they were.
    var isSteady: Bool {
      guard status.isRegular, let now = try? FileStatus(of: file, path) else { return !status.isRegular }
      guard !now.isAs(status) else { return true }
      return now.size > status.size && (try? Self.ends(of: file, status.size, path)).map { $0 == (first, last) } == true
    }

    private static func ends(of file: Descriptor, _ size: Int64, _ path: String) throws -> ([UInt8], [UInt8]) {
      let count = min(size, 1 << 16)
      return (try file.read(count, at: 0, path), try file.read(count, at: size - count, path))
    }
  }
#endif
