#if HTTP
  import DurableJobs
  import Foundation

  /// What is known of a part, in the file beside it: whose it is, which version of the file, how much of it is flushed, and
  /// whether it is whole.
  ///
  /// The file only grows, a line at a time, so that a crash leaves all that was said before: a line of JSON for each change
  /// of what is known, and a number for each flush, with a mark of the last bytes.
  struct PartRecord: Codable, Equatable {
    var url: String
    /// What the file's checksum must come to: bytes of other servers will do, if they are asked for the same.
    var sha256: String?
    var version = FileVersion()
    /// The name that the server gave the file, and its time.
    var name: String?
    var modified: Date?
    /// The part holds what came out of a decoder: no server can be asked for the rest of that.
    var isDecoded = false
    /// Whether its server says that it can be asked for the rest; nil if it says nothing.
    var takesRanges: Bool?
    /// The most bytes that were ever here.
    var highest: Int64 = 0
    /// Bytes that were on the disk at the last flush. Nothing else is trusted: what was only written may be gone though the
    /// machine has not started anew, from a stick that was pulled or with a file server.
    var flushed: Int64 = 0
    /// The file that the bytes are in, and a mark of the last of them that were flushed. What somebody else put under the
    /// part's name has neither. Some file systems number their files anew each time, and a copy has a number of its own.
    var inode: UInt64?
    var tail: String?
    /// What of it came did not fit on the disk, and could not be gone on with.
    var shortage: Shortage?
    /// The whole file, once it was checked and was about to be named.
    var whole: Whole?

    struct Shortage: Codable, Equatable {
      /// So many bytes were room for.
      var room: Int64
      /// How often there was not enough.
      var rounds: Int
    }

    struct Whole: Codable, Equatable {
      /// The job that brought it.
      var job: JobID
      var nonce: String?
      var name: String
      var size: Int64
      var modified: Int64
    }

    private enum CodingKeys: String, CodingKey {
      case url, sha256, version, name, modified, isDecoded, takesRanges, highest, inode, whole, shortage
    }

    init(url: String, sha256: String? = nil, inode: UInt64? = nil) {
      self.url = url
      self.sha256 = sha256
      self.inode = inode
    }

    /// What the lines of a record file say, the last of a kind. Nil if no line is a record. A line without an end was
    /// being written.
    init?(_ text: Data) {
      var record: PartRecord?
      let decoder = JSONDecoder()
      for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
        if let flushed = words.first.flatMap({ Int64($0) }) {
          record?.flushed = flushed
          record?.tail = words.count > 1 ? words[1] : nil
        } else if let next = try? decoder.decode(PartRecord.self, from: Data(line)) {
          record = next
        }
      }
      guard let record, record.flushed >= 0, record.highest >= 0, record.version.total ?? 0 >= 0 else { return nil }
      self = record
    }

    /// Whether that may be the begin of a first line: with `sortedKeys`, as below.
    static func isBegun(_ text: Data) -> Bool {
      let begin = Data(#"{"highest":"#.utf8)
      return !text.contains(UInt8(ascii: "\n")) && text.prefix(begin.count) == begin.prefix(text.count)
    }

    /// Lines that say all of this.
    var lines: Data {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let head = (try? encoder.encode(self)) ?? Data()
      return head + Data("\n".utf8) + (flushed > 0 ? flushLine : Data())
    }

    /// A line that says how much is flushed.
    var flushLine: Data { Data("\(flushed)\(tail.map { " " + $0 } ?? "")\n".utf8) }

    /// Of another URL it is not known what the file is there, though the bytes may be the same.
    mutating func move(to url: String) {
      guard self.url != url else { return }
      self.url = url
      version = FileVersion(total: version.total)
      (name, modified, takesRanges, whole) = (nil, nil, nil, nil)
    }

    /// How much of a part of `length` bytes can be gone on from.
    func trusted(_ length: Int64) -> Int64 {
      let there = min(length, flushed)
      return min(there, version.total ?? there)
    }
  }
#endif
