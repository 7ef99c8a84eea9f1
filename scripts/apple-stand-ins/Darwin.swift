// What the branches for Apple's systems call of Darwin and Linux has not, or has in another shape: declared as the headers of
// the macOS 15 SDK have it, by way of Swift's importer. For scripts/check-apple alone: nothing of it is ever run.
import Dispatch
@_exported import Glibc

// sys/fcntl.h, sys/stdio.h, unistd.h
public let F_FULLFSYNC: Int32 = 51
public let RENAME_EXCL: Int32 = 4
public let _CS_DARWIN_USER_TEMP_DIR: Int32 = 65537
public func renameatx_np(
  _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: UnsafePointer<CChar>!, _: UInt32
) -> Int32 { fatalError() }

// sys/xattr.h
@discardableResult
public func fsetxattr(
  _: Int32, _: UnsafePointer<CChar>!, _: UnsafeRawPointer!, _: Int, _: UInt32, _: Int32
) -> Int32 { fatalError() }
public func fgetxattr(
  _: Int32, _: UnsafePointer<CChar>!, _: UnsafeMutableRawPointer!, _: Int, _: UInt32, _: Int32
) -> Int { fatalError() }

// sys/socket.h: plain numbers, which are an enumeration on Linux
public let SO_NOSIGPIPE: Int32 = 0x1022
public let SOCK_STREAM: Int32 = 1
public let SOCK_DGRAM: Int32 = 2

// sys/stat.h
extension stat {
  public var st_mtimespec: timespec { st_mtim }
  public var st_ctimespec: timespec { st_ctim }
}

// ObjectiveC's overlay, which Foundation brings along
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

// Dispatch's overlay, dispatch/source.h
extension DispatchSource {
  public struct ProcessEvent: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let exit = ProcessEvent(rawValue: 0x8000_0000)
  }

  public class func makeProcessSource(
    identifier: pid_t, eventMask: ProcessEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceProtocol { fatalError() }
}
