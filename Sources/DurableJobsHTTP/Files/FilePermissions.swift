#if HTTP
  import Foundation

  /// Who may read and write a file that is made.
  struct FilePermissions: Equatable {
    private let mode: Int
    /// The group that they are for; nil for whichever the file has.
    private let group: UInt32?

    init(_ mode: Int) {
      self.mode = mode
      group = nil
    }

    /// Those of a file that is replaced.
    init(of file: FileStatus) {
      mode = file.permissions
      group = file.group
    }

    /// To make it with: which group it gets, its folder may say.
    var atFirst: Int { group == nil ? mode : mode & ~0o070 }

    /// Those of that file. Another group than they are for may do nothing.
    func mode(of file: FileStatus) -> Int { group == nil || group == file.group ? mode : mode & ~0o070 }
  }
#endif
