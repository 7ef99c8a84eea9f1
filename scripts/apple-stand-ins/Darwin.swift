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

// sys/sysctl.h, sys/proc.h
public let CTL_KERN: Int32 = 1
public let KERN_PROC: Int32 = 14
public let KERN_PROC_ALL: Int32 = 0
public let KERN_PROC_PID: Int32 = 1
public let SZOMB: Int32 = 5
public func sysctl(
  _: UnsafeMutablePointer<Int32>!, _: UInt32, _: UnsafeMutableRawPointer!, _: UnsafeMutablePointer<Int>!,
  _: UnsafeMutableRawPointer!, _: Int
) -> Int32 { fatalError() }
public func sysctlbyname(
  _: UnsafePointer<CChar>!, _: UnsafeMutableRawPointer!, _: UnsafeMutablePointer<Int>!, _: UnsafeMutableRawPointer!,
  _: Int
) -> Int32 { fatalError() }
public struct kinfo_proc {
  public struct extern_proc {
    public struct __Unnamed_union_p_un { public var __p_starttime = timeval() }
    public var p_un = __Unnamed_union_p_un()
    public var p_stat: CChar = 0
    public var p_pid: pid_t = 0
  }
  public struct eproc {
    public var e_ppid: pid_t = 0
    public var e_pgid: pid_t = 0
  }
  public var kp_proc = extern_proc()
  public var kp_eproc = eproc()
  public init() {}
}

// spawn.h, sys/spawn.h: pointers, which are structures on Linux
public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias posix_spawnattr_t = UnsafeMutableRawPointer
public let POSIX_SPAWN_SETSID: Int32 = 0x0400
public let POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 = 0x4000
@discardableResult
public func posix_spawn_file_actions_init(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_destroy(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawn_file_actions_adddup2(
  _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _: Int32, _: Int32
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_init(_: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_destroy(_: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_setsigdefault(
  _: UnsafeMutablePointer<posix_spawnattr_t?>!, _: UnsafePointer<sigset_t>!
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_setsigmask(
  _: UnsafeMutablePointer<posix_spawnattr_t?>!, _: UnsafePointer<sigset_t>!
) -> Int32 { fatalError() }
@discardableResult
public func posix_spawnattr_setflags(_: UnsafeMutablePointer<posix_spawnattr_t?>!, _: Int16) -> Int32 { fatalError() }
public func posix_spawn(
  _: UnsafeMutablePointer<pid_t>!, _: UnsafePointer<CChar>!, _: UnsafePointer<posix_spawn_file_actions_t?>!,
  _: UnsafePointer<posix_spawnattr_t?>!, _: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
  _: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { fatalError() }

// sys/signal.h
public typealias __siginfo = siginfo_t
extension siginfo_t {
  public var si_pid: pid_t { fatalError() }
  public var si_status: Int32 { fatalError() }
}
public struct __sigaction_u {
  public var __sa_handler: (@convention(c) (Int32) -> Void)!
  public var __sa_sigaction:
    (@convention(c) (Int32, UnsafeMutablePointer<__siginfo>?, UnsafeMutableRawPointer?) -> Void)!
}
extension sigaction {
  public var __sigaction_u: Darwin.__sigaction_u {
    get { fatalError() }
    set {}
  }
}

// sys/resource.h, sys/syslimits.h: a plain number, which is an enumeration on Linux
public let RLIMIT_NOFILE: Int32 = 8
public let OPEN_MAX: Int32 = 10240
@discardableResult
public func getrlimit(_: Int32, _: UnsafeMutablePointer<rlimit>!) -> Int32 { fatalError() }
@discardableResult
public func setrlimit(_: Int32, _: UnsafePointer<rlimit>!) -> Int32 { fatalError() }

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
