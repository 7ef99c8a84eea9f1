#if Encryption
  import Crypto
  import DurableJobs
  import Foundation

  /// Payloads that are stored encrypted, by AES-GCM (NIST SP 800-38D), under keys that can change:
  ///
  ///     let encryption = JobEncryption(keys: ["2026-11": new, "2025": old], current: "2026-11")
  ///     let mail = JobQueue("mail", store: store, middleware: [encryption])
  ///
  /// New jobs are encrypted under the current key; those that were stored under another of the keys still run. To change a key,
  /// first give the new one to all processes beside the old, then make it the current one, and drop the old one when no
  /// unfinished job needs it. A job whose key a worker has not, whose bytes were changed, or that was moved to another kind, is
  /// suspended with that reason and keeps what it has.
  ///
  /// Only payloads are encrypted: not outputs, progress, errors, keys, tags and names. Rows that are read by
  /// `JobQueue.jobs(of:where:after:limit:order:)` don't decode; ``open(_:kind:)`` gives the payload of one.
  public struct JobEncryption: JobMiddleware {
    private let keys: [String: SymmetricKey]
    private let current: String
    private let acceptsPlain: Bool

    /// Keys by name, of 128, 192 or 256 bits; `current` is the name of one of them. `acceptsPlain`: run also what is stored
    /// plainly, as by an earlier version of the program. Throws `JobError.Code.invalidArgument` if there is no such key, or
    /// if one has another size.
    public init(keys: [String: SymmetricKey], current: String, acceptsPlain: Bool = false) throws {
      guard keys[current] != nil else {
        throw JobError(.invalidArgument, "the current key is '\(current)', and no key has that name")
      }
      for (name, key) in keys where ![128, 192, 256].contains(key.bitCount) {
        throw JobError(.invalidArgument, "the key '\(name)' has \(key.bitCount) bits; AES has keys of 128, 192 or 256")
      }
      (self.keys, self.current, self.acceptsPlain) = (keys, current, acceptsPlain)
    }

    public func enqueue(_ job: inout NewJob) throws {
      // The key is there, and of a size that AES takes.
      let box = try AES.GCM.seal(job.payload, using: keys[current]!, authenticating: Data(job.kind.utf8))
      job.payload = try JSONEncoder().encode(Sealed(sealed: box.combined!, key: current))
    }

    public func run(
      _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
    ) async throws -> Data? {
      var job = job
      do {
        job.payload = try open(job.payload, kind: job.kind)
      } catch {
        throw Undecodable(reason: error.briefly)
      }
      return try await next(job, context)
    }

    /// The payload of a job, as it was enqueued. Throws `JobError.Code.notDecodable` where there is no key for it, where it
    /// is not what was encrypted, or where it is plain and that is not accepted.
    public func open(_ payload: Data, kind: String) throws -> Data {
      guard let sealed = try? JSONDecoder().decode(Sealed.self, from: payload) else {
        if acceptsPlain { return payload }
        throw JobError(.notDecodable, "the payload is not encrypted, and plain ones are not accepted")
      }
      guard let key = keys[sealed.key] else {
        throw JobError(.notDecodable, "the payload is encrypted under the key '\(sealed.key)', which is not there")
      }
      do {
        return try AES.GCM.open(AES.GCM.SealedBox(combined: sealed.sealed), using: key, authenticating: Data(kind.utf8))
      } catch {
        throw JobError(
          .notDecodable, "the payload was changed, or the key '\(sealed.key)' is another than the one of that name",
          cause: error)
      }
    }
  }

  /// As JSON, since what shows payloads shows them so.
  private struct Sealed: Codable {
    /// Nonce, encrypted bytes and tag.
    var sealed: Data
    var key: String

    enum CodingKeys: String, CodingKey {
      case sealed = "$sealed"
      case key = "$key"
    }
  }
#endif
