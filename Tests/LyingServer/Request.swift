#if HTTP
  import NIOCore

  /// What a client asked.
  public struct Request: Sendable {
    /// The first line, as it was sent.
    public var line: String
    public var method: String
    /// With its query, as it was sent.
    public var path: String
    /// As in `HTTP/1.1`.
    public var version: String
    var fields: [(name: String, value: String)]
    public var body: [UInt8] = []

    /// The value of a header; several are joined by commas.
    public subscript(_ name: String) -> String? {
      let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The first byte that was asked for with `bytes=N-`.
    public var rangeStart: Int64? {
      guard let range = self["Range"], range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
      return Int64(range.dropFirst(6).dropLast())
    }

    /// Takes a request off `buffer`, if it is there whole, with as much of a body as its length says.
    init?(from buffer: inout ByteBuffer) {
      let view = buffer.readableBytesView
      let end = Array("\r\n\r\n".utf8)
      guard let head = view.indices.first(where: { view[$0...].starts(with: end) }) else { return nil }
      let lines = String(decoding: view[..<head], as: UTF8.self).split(separator: "\r\n")
      line = lines.first.map(String.init) ?? ""
      let words = lines.first?.split(separator: " ") ?? []
      method = words.first.map(String.init) ?? ""
      path = words.count > 1 ? String(words[1]) : ""
      version = words.last.map(String.init) ?? ""
      fields = lines.dropFirst().map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
        return (String(parts[0]), String(value))
      }
      let length = self["Content-Length"].flatMap { Int($0) } ?? 0
      guard view.endIndex >= head + end.count + length else { return nil }
      buffer.moveReaderIndex(to: head + end.count)
      body = buffer.readBytes(length: length)!
    }
  }
#endif
