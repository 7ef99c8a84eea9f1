#if HTTP
  import DurableJobs
  import Foundation

  /// The job of a download, told from those of other stores, which count theirs from 1, too: what it left in a folder is
  /// taken up by no other.
  struct KnownJob: Equatable, Sendable {
    var id: JobID
    var nonce: String?

    init(_ id: JobID, nonce: String?) {
      self.id = id
      self.nonce = nonce
    }

    init(_ id: JobID, of download: Download?) { self.init(id, nonce: download?.nonce.text) }
  }

  /// What no other job's payload has: a download has one from when it is stored. Any two are equal, as it is nothing that
  /// is asked for.
  struct Nonce: Codable, Hashable, Sendable {
    private(set) var text: String?

    init() {}

    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      try value.encode(text ?? UUID().uuidString)
    }

    static func == (one: Nonce, other: Nonce) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }
#endif
