#if Encryption
  import Crypto
  import DurableJobs
  import Foundation

  /// Middleware that stores payloads encrypted with AES-GCM (NIST SP 800-38D), with keys that can be rotated:
  ///
  ///     let encryption = try JobEncryption(keys: ["2026-11": new, "2025": old], current: "2026-11")
  ///     let mail = JobQueue("mail", store: store, middleware: [encryption])
  ///
  /// New jobs are encrypted with the current key; jobs stored with any of the other keys still run. To rotate, first
  /// give all processes the new key beside the old one, then make it the current one, and remove the old key once no
  /// unfinished job needs it. A job is suspended with the reason, and keeps its payload, if the worker lacks its key,
  /// if its bytes were modified, or if it was moved to another kind.
  ///
  /// Only payloads are encrypted, not outputs, progress, errors, keys, tags or names. Rows from
  /// `JobQueue.jobs(of:where:after:limit:order:)` don't decode; ``open(_:kind:)`` decrypts a payload.
  public struct JobEncryption: JobMiddleware {
    private let keys: [String: SymmetricKey]
    private let current: String
    private let acceptsPlain: Bool

    /// `keys` are keys of 128, 192 or 256 bits by name; `current` is one of the names. `acceptsPlain` also runs jobs
    /// stored without encryption, for instance by an earlier version of the program. Throws
    /// `JobError.Code.invalidArgument` if there is no such key, or if a key has another size.
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
      // The key exists and has a size that AES accepts.
      let box = try AES.GCM.seal(job.payload, using: keys[current]!, authenticating: Data(job.kind.utf8))
      job.payload = try JSONEncoder().encode(Sealed(sealed: box.combined!, key: current))
    }

    /// What is under another key than the current one is left, so that a schedule is encrypted anew.
    public func undo(_ job: inout NewJob) {
      guard let sealed = try? JSONDecoder().decode(Sealed.self, from: job.payload), sealed.key == current,
        let plain = try? open(job.payload, kind: job.kind)
      else { return }
      job.payload = plain
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

    /// Decrypts the payload of a job. Throws `JobError.Code.notDecodable` if there is no key for it, if it was
    /// modified, or if it is not encrypted and that is not accepted.
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

  /// JSON, since tools show payloads as such.
  private struct Sealed: Codable {
    /// Nonce, ciphertext and tag.
    var sealed: Data
    var key: String

    enum CodingKeys: String, CodingKey {
      case sealed = "$sealed"
      case key = "$key"
    }
  }
#endif
