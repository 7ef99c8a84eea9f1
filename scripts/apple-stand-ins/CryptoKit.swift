// What is called of CryptoKit (CryptoKit.swiftinterface, macOS 15 SDK). For scripts/check-apple alone.
import Foundation

public struct SHA256Digest: Sequence, Sendable {
  public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA256: Sendable {
  public init() {}
  public mutating func update<D: DataProtocol>(data: D) {}
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> SHA256Digest { fatalError() }
  public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError() }
}
