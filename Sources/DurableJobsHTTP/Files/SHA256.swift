#if HTTP
  import Foundation

  #if canImport(CryptoKit)
    import CryptoKit

    package typealias SHA256 = CryptoKit.SHA256
  #else
    import CDurableSHA256

    /// The part of CryptoKit's API that is used here.
    package struct SHA256: Sendable {
      private var state: durable_sha256

      package init() { self.init(byProcessor: true) }

      /// If not `byProcessor`, avoids the processor's SHA instructions: a test compares the two.
      init(byProcessor: Bool) { state = durable_sha256_begin(byProcessor) }

      package mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
        durable_sha256_update(&state, bytes.baseAddress, bytes.count)
      }

      package mutating func update(data: some DataProtocol) {
        for region in data.regions { region.withUnsafeBytes { update(bufferPointer: $0) } }
      }

      /// The digest of what was added so far. More may be added after it.
      package func finalize() -> [UInt8] {
        var state = state
        return [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
          durable_sha256_end(&state, digest.baseAddress)
          count = 32
        }
      }

      package static func hash(data: some DataProtocol) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: data)
        return hash.finalize()
      }
    }
  #endif
#endif
