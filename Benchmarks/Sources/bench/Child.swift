import Foundation

/// A run of this program, or of another, as a process of its own.
final class Child {
  private let process = Process()
  private let output = Pipe()
  private var pending = Data()

  init(_ arguments: [String], program: URL = Child.thisProgram) throws {
    process.executableURL = program
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  var processIdentifier: Int32 { process.processIdentifier }

  static var thisProgram: URL {
    #if os(Linux)
      URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
      Bundle.main.executableURL!
    #endif
  }

  /// The next line that it prints; nil at the end.
  func nextLine() -> String? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        defer { pending = Data(pending[(end + 1)...]) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      pending += more
    }
  }

  func finish() throws {
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw WrongResult("\(process.arguments ?? []) ended with \(process.terminationStatus)")
    }
  }
}

/// The figures that one run printed.
func figures(of arguments: [String], program: URL = Child.thisProgram) throws -> [String: Double] {
  let child = try Child(arguments, program: program)
  let line = child.nextLine() ?? ""
  try child.finish()
  return try numbers(in: line)
}

/// The numbers in a line of figures.
func numbers(in line: String) throws -> [String: Double] {
  guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
    throw WrongResult("these are no figures: \(line)")
  }
  return object.compactMapValues { ($0 as? NSNumber)?.doubleValue }
}
