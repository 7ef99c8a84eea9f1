import Foundation

extension URL {
  /// A program of this package: it stands beside the test bundle, wherever the build system puts that.
  package static func built(_ program: String) -> URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    return (bundle ?? URL(filePath: CommandLine.arguments[0])).deletingLastPathComponent().appending(path: program)
  }
}
