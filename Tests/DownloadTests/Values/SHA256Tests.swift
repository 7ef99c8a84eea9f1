#if HTTP
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct SHA256Tests {
    private func begin(byProcessor: Bool) -> SHA256 {
      #if canImport(CryptoKit)
        SHA256()
      #else
        SHA256(byProcessor: byProcessor)
      #endif
    }

    private func digest(_ text: String, byProcessor: Bool) -> String {
      var hash = begin(byProcessor: byProcessor)
      hash.update(data: Data(text.utf8))
      return hash.finalize().hexadecimal
    }

    @Test("The examples of the standard", arguments: [true, false])
    func standard(byProcessor: Bool) {
      #expect(
        digest("", byProcessor: byProcessor) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
      #expect(
        digest("abc", byProcessor: byProcessor) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      #expect(
        digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", byProcessor: byProcessor)
          == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
      #expect(
        digest(String(repeating: "a", count: 1_000_000), byProcessor: byProcessor)
          == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// The hash of the hashes of 0, 1, … 299 bytes, as another program computed it.
    @Test("Every length, and however it comes in pieces", arguments: [true, false])
    func lengths(byProcessor: Bool) {
      let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7) }
      for piece in [1, 13, 63, 64, 65, 300] {
        var all = begin(byProcessor: byProcessor)
        for length in 0..<300 {
          var hash = begin(byProcessor: byProcessor)
          for begin in stride(from: 0, to: length, by: piece) {
            hash.update(data: bytes[begin..<min(begin + piece, length)])
          }
          all.update(data: Array(hash.finalize()))
        }
        #expect(all.finalize().hexadecimal == "f65f14b090e805017546322e618401d41f0710c213e013a5131eb38bbe8f367f")
      }
    }

    @Test func `A copy goes on by itself, and what was asked for its digest goes on`() {
      var hash = SHA256()
      hash.update(data: Data("ab".utf8))
      var copy = hash
      copy.update(data: Data("x".utf8))
      _ = hash.finalize()
      hash.update(data: Data("c".utf8))
      #expect(Array(hash.finalize()) == Array(SHA256.hash(data: Data("abc".utf8))))
      #expect(Array(copy.finalize()) == Array(SHA256.hash(data: Data("abx".utf8))))
    }
  }
#endif
