#if Encryption
  import Crypto
  import DurableJobs
  import DurableJobsEncryption
  import DurableJobsTesting
  import Foundation
  import Testing

  private struct Secret: JobPayload, Equatable {
    static let kind = "secret"
    static let formerKinds = ["mystery"]
    var word: String
  }

  @Suite struct EncryptionTests {
    let store = InMemoryStore()
    let old = SymmetricKey(size: .bits256)
    let new = SymmetricKey(size: .bits128)
    let read = Lock<[String]>([])

    private func run(_ encryption: JobEncryption) async throws {
      let worker = JobWorker(JobQueue(store: store, middleware: [encryption]), maxConcurrentJobs: 1)
      worker.register(Secret.self) { [read] secret, _ in read.withLock { $0.append(secret.word) } }
      try await worker.runUntilIdle()
    }

    private func enqueue(_ word: String, _ encryption: JobEncryption?) async throws -> JobID {
      try await JobQueue(store: store, middleware: encryption.map { [$0] } ?? []).enqueue(Secret(word: word)).id
    }

    private func job(_ id: JobID) async throws -> JobSnapshot {
      try #require(try await store.jobs(JobQuery(.id(id), detail: .all)).first)
    }

    @Test func `A payload is stored encrypted, as JSON, and its handler reads it`() async throws {
      let encryption = try JobEncryption(keys: ["new": new], current: "new")
      let id = try await enqueue("swordfish", encryption)
      let payload = try #require(try await job(id).payload)
      #expect(!String(decoding: payload, as: UTF8.self).contains("swordfish"))
      #expect(try JSONSerialization.jsonObject(with: payload) is [String: String])
      #expect(try encryption.open(payload, kind: "secret") == Data(#"{"word":"swordfish"}"#.utf8))
      try await run(encryption)
      #expect(read.withLock(\.self) == ["swordfish"])
    }

    @Test func `The same payload is encrypted otherwise each time`() async throws {
      let encryption = try JobEncryption(keys: ["new": new], current: "new")
      let first = try await job(enqueue("swordfish", encryption)).payload
      #expect(try await job(enqueue("swordfish", encryption)).payload != first)
    }

    @Test func `What is encrypted under the current key is compared as it was, and under another it differs`()
      async throws
    {
      let before = try JobEncryption(keys: ["old": old], current: "old")
      let after = try JobEncryption(keys: ["old": old, "new": new], current: "new")
      func undone(_ word: String, _ encryption: JobEncryption) throws -> Data {
        var job = NewJob(queue: "q", kind: "secret", payload: Data(word.utf8))
        try encryption.enqueue(&job)
        after.undo(&job)
        return job.payload
      }
      #expect(try undone("swordfish", after) == Data("swordfish".utf8))
      #expect(try undone("swordfish", before) != undone("swordfish", before), "it is to be encrypted anew")
    }

    @Test func `Jobs that were stored under an old key run, and new ones are under the new`() async throws {
      let before = try JobEncryption(keys: ["old": old], current: "old")
      let after = try JobEncryption(keys: ["old": old, "new": new], current: "new")
      _ = try await enqueue("before", before)
      let later = try await enqueue("after", after)
      let onlyNew = try JobEncryption(keys: ["new": new], current: "new")
      #expect(try await onlyNew.open(#require(job(later).payload), kind: "secret") == Data(#"{"word":"after"}"#.utf8))
      try await run(after)
      #expect(read.withLock(\.self) == ["before", "after"])
    }

    @Test func `A job that can't be decrypted is suspended, and runs once its key is there`() async throws {
      let id = try await enqueue("before", JobEncryption(keys: ["old": old], current: "old"))
      let plain = try await enqueue("plain", nil)
      try await run(JobEncryption(keys: ["new": new], current: "new"))
      #expect(try await job(id).state == .suspended)
      #expect(try await job(id).reason?.contains("the key 'old', which is not there") == true)
      #expect(try await job(plain).reason?.contains("not encrypted") == true)
      #expect(read.withLock(\.self) == [])
      for id in [id, plain] { try await JobQueue(store: store).resume(id) }
      try await run(JobEncryption(keys: ["new": new, "old": old], current: "new", acceptsPlain: true))
      #expect(read.withLock(\.self) == ["before", "plain"])
    }

    @Test func `What was changed, or moved to another kind, is not run`() async throws {
      let encryption = try JobEncryption(keys: ["new": new], current: "new")
      let payload = try #require(try await job(enqueue("swordfish", encryption)).payload)
      var text = try #require(String(data: payload, encoding: .utf8))
      let place = try #require(text.range(of: #"sealed":""#)).upperBound
      text.replaceSubrange(place...place, with: text[place] == "A" ? "B" : "A")
      for (payload, kind) in [(Data(text.utf8), "secret"), (payload, "mystery")] {
        let error = #expect(throws: JobError.self) { try encryption.open(payload, kind: kind) }
        #expect(error?.code == .notDecodable)
      }
    }

    @Test func `Keys that can't be used are refused`() {
      for (keys, current) in [([:], "new"), (["new": SymmetricKey(data: Data("short".utf8))], "new")] {
        let error = #expect(throws: JobError.self) { try JobEncryption(keys: keys, current: current) }
        #expect(error?.code == .invalidArgument)
      }
    }
  }
#endif
