#if HTTP
  import DurableJobs
  import Foundation

  /// Identifies a download's job, distinguishing it from jobs of other stores with the same number: no other job may
  /// continue with what it left in a folder.
  struct KnownJob: Equatable, Sendable {
    var id: JobID
    var nonce: String?

    init(_ id: JobID, nonce: String?) {
      self.id = id
      self.nonce = nonce
    }

    init(_ id: JobID, of download: Download?) { self.init(id, nonce: download?.nonce.text) }
  }

  /// A unique value in a download's payload from when it is stored. Any two compare equal, since it is not part of what
  /// is requested.
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
