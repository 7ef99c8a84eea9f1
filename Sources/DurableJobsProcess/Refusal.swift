#if Process
  import DurableJobs
  import Foundation

  /// What the system refused to do for a command, with its code.
  struct Refusal: Error, CustomStringConvertible {
    let what: String
    let code: Int32

    init(_ what: String, _ code: Int32 = errno) {
      self.what = what
      self.code = code
    }

    /// A file can't be locked, by anybody: some network file systems and mounts of containers know no locks.
    init(noLock path: String, _ code: Int32 = errno) {
      self.init("can't lock \(path): put its folder on a file system with locks, such as a local disk", code)
    }

    var description: String { SystemError(what, code).description }

    /// Whether a code concerns the command or its place, and will recur. All others may pass: a temporary lack of
    /// files, processes, memory or room, or a program that is being written.
    static func lasts(_ code: Int32) -> Bool {
      switch code {
      case ENOENT, EACCES, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, E2BIG, ENOEXEC, EINVAL, EPERM, EOPNOTSUPP, ENOSYS: true
      default: false
      }
    }
  }

  extension Error {
    /// Whether it would recur. One without a known system code may pass.
    var lasts: Bool { systemCode.map { Refusal.lasts($0) } ?? false }

    /// The system's own code behind it, if there is one.
    var systemCode: Int32? {
      switch self {
      case let error as Refusal: return error.code
      default:
        let error = self as NSError
        if error.domain == NSPOSIXErrorDomain { return Int32(error.code) }
        return (error.userInfo[NSUnderlyingErrorKey] as? any Error)?.systemCode
      }
    }
  }
#endif
