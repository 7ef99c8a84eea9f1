#if Process
  import Foundation

  /// Text as the system passes it: bytes without NUL, which need not be UTF-8.
  ///
  /// In JSON it is a string, or `{"base64": "…"}` if a string could not hold it.
  public struct SystemText: Hashable, Sendable {
    public var bytes: [UInt8]

    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// For people: bytes that are not UTF-8 are replaced.
    public var display: String { String(decoding: bytes, as: UTF8.self) }
    package var isUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// Calls `body` with the bytes, ended by NUL.
    package func withCString<R>(_ body: (UnsafePointer<CChar>) throws -> R) rethrows -> R {
      try (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { try body($0.baseAddress!) }
    }
  }

  extension SystemText: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
  }

  extension SystemText: Codable {
    private enum CodingKeys: CodingKey { case base64 }

    public init(from decoder: any Decoder) throws {
      if let text = try? decoder.singleValueContainer().decode(String.self) {
        self.init(text)
      } else {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(bytes: try container.decode(Data.self, forKey: .base64))
      }
    }

    public func encode(to encoder: any Encoder) throws {
      if let text = String(validating: bytes, as: UTF8.self) {
        var container = encoder.singleValueContainer()
        try container.encode(text)
      } else {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Data(bytes), forKey: .base64)
      }
    }
  }

  extension SystemText {
    /// The last `count` arguments of this process, as they were given.
    package static func lastArguments(_ count: Int) -> [SystemText] {
      (Int(CommandLine.argc) - count..<Int(CommandLine.argc)).compactMap { index in
        CommandLine.unsafeArgv[index].map { SystemText(cString: $0) }
      }
    }

    /// A variable of this process's environment.
    package static func environment(_ name: String) -> SystemText? { getenv(name).map { SystemText(cString: $0) } }

    /// The variables of this process's environment that a command gets from it unless told otherwise.
    package static var inheritedEnvironment: [String: SystemText] {
      wholeEnvironment.filter { ShellCommand.isInherited($0.key) }
    }

    /// All variables of this process's environment.
    package static var wholeEnvironment: [String: SystemText] {
      let names = ProcessInfo.processInfo.environment.keys
      return Dictionary(uniqueKeysWithValues: names.compactMap { name in environment(name).map { (name, $0) } })
    }

    package static var currentDirectory: SystemText? {
      guard let path = getcwd(nil, 0) else { return nil }
      defer { free(path) }
      return SystemText(cString: path)
    }

    /// This path without symbolic links; nil where there is nothing.
    package var resolved: SystemText? {
      guard let path = withCString({ realpath($0, nil) }) else { return nil }
      defer { free(path) }
      return SystemText(cString: path)
    }

    private init(cString: UnsafePointer<CChar>) {
      self.init(bytes: UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }
  }
#endif
