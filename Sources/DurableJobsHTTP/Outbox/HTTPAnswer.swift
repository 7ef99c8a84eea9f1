#if HTTP
  import Foundation

  /// The server's answer to a ``SendRequest`` that succeeded.
  public struct HTTPAnswer: Codable, Hashable, Sendable {
    /// The status, from 200 to 299.
    public var status: Int
    /// Those headers of the answer that are in ``keptHeaders``, in their order.
    public var headers: [HTTPHeader]
    /// At most ``mostBytes``. Where the server repeats a secret that was sent, it is replaced with `***`.
    public var body: Data
    /// Whether the body was longer than what is kept, or its connection broke.
    public var isCut: Bool

    /// The most bytes of a body that are kept.
    public static let mostBytes = 64 * 1024

    /// The headers that are kept. None of them belongs to a session.
    public static let keptHeaders = [
      "Content-Type", "Content-Language", "Content-Encoding", "Content-Location", "Date", "ETag", "Last-Modified",
      "Link", "Location", "X-Request-Id",
    ]

    public init(status: Int, headers: [HTTPHeader], body: Data, isCut: Bool) {
      self.status = status
      self.headers = headers
      self.body = body
      self.isCut = isCut
    }

    /// The value of a kept header.
    public subscript(_ name: String) -> String? {
      headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    private enum CodingKeys: CodingKey { case status, headers, body, isCut }

    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      status = try values.decode(Int.self, forKey: .status)
      headers = try values.decode([HTTPHeader].self, forKey: .headers)
      body = try values.decode(TextOrBytes.self, forKey: .body).data
      isCut = try values.decode(Bool.self, forKey: .isCut)
    }

    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(status, forKey: .status)
      try values.encode(headers, forKey: .headers)
      try values.encode(TextOrBytes(data: body), forKey: .body)
      try values.encode(isCut, forKey: .isCut)
    }
  }
#endif
