import Foundation
import TestProcesses

@testable import DurableJobsSQLite

/// A real process, told what to do by lines, and answering in lines. It is killed with this value.
final class ProcessProbe: Sendable {
  struct Ended: Error {}

  private let process: ChildProcess
  private let input: FileHandle
  private let lines: AsyncStream<String>

  var pid: Int32 { process.pid }

  convenience init(_ arguments: String...) throws { try self.init(program: Self.executable.path, arguments) }

  convenience init(program: String, _ arguments: String...) throws { try self.init(program: program, arguments) }

  private init(program: String, _ arguments: [String]) throws {
    _ = Self.ignoresBrokenPipes
    let (input, output) = (Pipe(), Pipe())
    process = try ChildProcess(
      program, arguments, input: input.fileHandleForReading.fileDescriptor,
      output: output.fileHandleForWriting.fileDescriptor)
    try input.fileHandleForReading.close()
    try output.fileHandleForWriting.close()
    self.input = input.fileHandleForWriting
    let (lines, continuation) = AsyncStream<String>.makeStream()
    self.lines = lines
    let reading = output.fileHandleForReading
    // Ends with the probe, which nothing but the tests holds.
    Thread {
      var rest = Data()
      while let read = Self.bytes(from: reading.fileDescriptor) {
        rest += read
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[rest.index(after: end)...])
        }
      }
      continuation.finish()
    }.start()
  }

  /// What has come; nil at the end. `FileHandle` would trap where a signal interrupts it.
  private static func bytes(from file: Int32) -> Data? {
    var buffer = [UInt8](repeating: 0, count: 8192)
    while true {
      let count = read(file, &buffer, buffer.count)
      if count > 0 { return Data(buffer[..<count]) }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  func tell(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

  /// The words after `first` in the next line that begins with it.
  @discardableResult
  func hear(_ first: String) async throws -> [String] {
    for await line in lines {
      let words = line.split(separator: " ").map(String.init)
      if words.first == first { return Array(words.dropFirst()) }
    }
    throw Ended()
  }

  /// All lines to that one.
  func lines(to last: String) async throws -> [String] {
    var said: [String] = []
    for await line in lines {
      said.append(line)
      if line == last { return said }
    }
    throw Ended()
  }

  func ask(_ line: String, hear first: String) async throws -> [String] {
    try tell(line)
    return try await hear(first)
  }

  func send(_ signal: Int32) { process.send(signal) }

  private static let ignoresBrokenPipes: Bool = {
    signal(SIGPIPE, SIG_IGN)
    return true
  }()

  static let executable = URL.built("ProcessProbe")
}
