#if HTTP
  import DurableJobs
  import Foundation

  /// What is known about a part, in the file beside it: whose it is, which version of the file, how much is flushed,
  /// and whether it is complete.
  ///
  /// The file is only appended to, line by line, so that a crash loses nothing recorded earlier: a line of JSON for
  /// each change, and for each flush a number with a digest of the last bytes.
  struct PartRecord: Codable, Equatable {
    var url: String
    /// The checksum that the file must have: bytes from other URLs with the same requirement are then acceptable.
    var sha256: String?
    /// As whom its server was asked: ``Asker/own``.
    var asker: String?
    var version = FileVersion()
    /// The name that the server gave the file, and its time.
    var name: String?
    var modified: Date?
    /// Whether the part holds decoded bytes, of which no server can send the rest.
    var isDecoded = false
    /// Whether the server says that it supports ranges; nil if it does not say.
    var takesRanges: Bool?
    /// The most bytes that were ever here.
    var highest: Int64 = 0
    /// How many bytes were on disk at the last flush. No others are trusted: even without a restart of the machine they
    /// may be lost, if a drive is removed or on a file server.
    var flushed: Int64 = 0
    /// The inode of the file of bytes, and a digest of the last flushed ones, to recognize a foreign file under the
    /// part's name. Some file systems number files anew with each mount, and a copy has another number.
    var inode: UInt64?
    var tail: String?
    /// What is noted on the file of bytes, where its file system can: numbers are given again.
    var mark: String?
    /// Set if what was received did not fit on the disk and could not be resumed.
    var shortage: Shortage?
    /// The complete file, once it was checked and about to be named.
    var whole: Whole?

    /// Text that was sent in place of the rest.
    var text: Text?

    struct Text: Codable, Equatable {
      /// What tells it from another: its version, or its length.
      var mark: String
      /// How often it came in a row.
      var times: Int
      /// When it came first.
      var since: Date?

      static let enough = 10
      /// Ten may come at once, as to who asks again and again. The waits between ten attempts take longer than this.
      static let longEnough: TimeInterval = 240
    }

    struct Shortage: Codable, Equatable {
      /// How many bytes there was room for.
      var room: Int64
      /// How often there was not enough.
      var rounds: Int
    }

    struct Whole: Codable, Equatable {
      /// The job that downloaded it.
      var job: JobID
      var nonce: String?
      var name: String
      var size: Int64
      var modified: Int64
      /// A digest of its last bytes.
      var tail: String?
    }

    private enum CodingKeys: String, CodingKey {
      case url, sha256, asker, version, name, modified, isDecoded, takesRanges, highest, inode, mark, whole, shortage,
        text
    }

    init(url: String, sha256: String? = nil, asker: String? = nil, inode: UInt64? = nil, mark: String? = nil) {
      self.url = url
      self.sha256 = sha256
      self.asker = asker
      self.inode = inode
      self.mark = mark
    }

    /// Reads the lines of a record file, the last one of each kind. Nil if no line is a record. A line without an end
    /// was still being written.
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
      guard let record, record.flushed >= 0, record.highest >= 0, record.version.total ?? 0 >= 0,
        record.shortage.map({ (0...1 << 60).contains($0.room) && (0...100).contains($0.rounds) }) ?? true,
        record.text.map({ (0...100).contains($0.times) }) ?? true
      else { return nil }
      self = record
    }

    /// Whether it may be the start of a first line: with `sortedKeys`, as below.
    static func isBegun(_ text: Data) -> Bool {
      !text.contains(UInt8(ascii: "\n"))
        && [#"{"asker":"#, #"{"highest":"#].contains {
          text.prefix($0.utf8.count).elementsEqual($0.utf8.prefix(text.count))
        }
    }

    /// Lines that record all of this.
    var lines: Data {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let head = (try? encoder.encode(self)) ?? Data()
      return head + Data("\n".utf8) + (flushed > 0 ? flushLine : Data())
    }

    /// A line that records how much is flushed.
    var flushLine: Data { Data("\(flushed)\(tail.map { " " + $0 } ?? "")\n".utf8) }

    /// For another URL, the file's version there is unknown, though the bytes may be the same. Likewise for who asks as
    /// somebody else: a strong tag names one file, whoever asks, and a date does not. RFC 9110, section 8.8.1.
    mutating func move(to url: String, for asker: Asker) {
      defer { (self.url, self.asker) = (url, asker.own) }
      let isSame = self.asker == asker.own && asker.mayAsk(as: version.users)
      guard self.url != url || !isSame && !version.hasStrongTag else { return }
      version = FileVersion(total: version.total)
      (name, modified, takesRanges, whole) = (nil, nil, nil, nil)
    }

    /// How much of a part of `length` bytes can be resumed.
    func trusted(_ length: Int64) -> Int64 {
      let there = min(length, flushed)
      return min(there, version.total ?? there)
    }
  }
#endif
