#if HTTP
  import Foundation

  extension URL {
    /// The absolute path of a file or folder, which leads to where the system goes by this one now: behind a symbolic link, `..`
    /// is the folder above its target, and not what is left of the text without both.
    package var absolutePath: String {
      var path = ""
      if !relativePath.hasPrefix("/") {
        path =
          baseURL.map { $0.hasDirectoryPath ? $0.absolutePath : Self.parent(of: $0.absolutePath) }
          ?? FileManager.default.currentDirectoryPath
        if path == "/" { path = "" }
      }
      for part in relativePath.utf8.split(separator: UInt8(ascii: "/")).map({ String(Substring($0)) }) where part != "."
      {
        path = part == ".." ? Self.parent(of: Self.target(of: path)) : path + "/" + part
      }
      return path.isEmpty ? "/" : path
    }

    /// Without what follows the last `/`, and that itself.
    private static func parent(of path: String) -> String {
      path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
    }

    /// Where a symbolic link leads to in the end; else the path itself.
    private static func target(of path: String) -> String {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let target = realpath(path, nil) else {
        return path
      }
      defer { free(target) }
      return String(cString: target)
    }
  }
#endif
