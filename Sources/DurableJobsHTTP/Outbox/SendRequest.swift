#if HTTP
  import DurableJobs
  import Foundation

  /// An HTTP request that must arrive, as a durable job. An ``Outbox`` sends it.
  ///
  ///     Outbox(store: store).register(with: worker)
  ///     try await queue.enqueue(SendRequest(.post, url, body: .json(order)))
  ///
  /// It is sent at least once. One whose connection broke after it was sent may have been carried out, and so may one whose
  /// process died before the answer came: it is sent again, with the same ``idempotencyKey``, by which the server can tell.
  /// Of a store that is in a file, an answer that came outlives the process, but no power cut before it is stored.
  ///
  /// It must not contain secrets: a header's value names them, as in `Bearer {secret:TOKEN}`, and the outbox looks them
  /// up each time it sends.
  public struct SendRequest: JobPayload, Hashable {
    public typealias Output = HTTPAnswer

    public static let kind = "request"

    /// Waits 1 s after the first failure, later at most an hour.
    public static let retry = RetryPolicy.exponential(cap: .seconds(3600))
    /// 40 attempts, which take about a day if a server answers with errors. Those that reach no server do not count for
    /// a week: see ``Outbox``.
    public static let options = JobOptions(maxAttempts: 40)

    public struct Method: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringLiteral {
      public let rawValue: String
      public init(rawValue: String) { self.rawValue = rawValue }
      public init(stringLiteral value: String) { rawValue = value }

      public static let get: Method = "GET"
      public static let head: Method = "HEAD"
      public static let post: Method = "POST"
      public static let put: Method = "PUT"
      public static let patch: Method = "PATCH"
      public static let delete: Method = "DELETE"

      /// It only asks, and what it asks for is the answer.
      var isQuestion: Bool { self == .get || self == .head }
    }

    public var method: Method
    /// An `http` or `https` URL without user and password, which would be stored.
    public var url: URL
    /// Sent only to the URL's own scheme, host and port and to no other that it redirects to, except for the body's
    /// type. A value may name secrets.
    public var headers: [HTTPHeader]
    /// The absolute paths of files with more headers, one a line, that are read at each sending. Their contents are not
    /// stored.
    public var headerFiles: [String]
    public var body: Body
    /// The value of `Idempotency-Key`, the same at each sending; nil sends none. While a request with the same method,
    /// URL and key is unfinished, a second `enqueue` of it returns the first one's handle.
    public var idempotencyKey: String?
    /// The absolute path of a file of certificates (PEM) that are trusted in place of the system's.
    public var caCertificates: String?

    /// Each value created in this way is a separate request with a key of its own.
    public init(
      _ method: Method, _ url: URL, headers: [HTTPHeader] = [], headerFiles: [URL] = [], body: Body = .none,
      idempotencyKey: String? = UUID().uuidString, caCertificates: URL? = nil
    ) {
      self.method = method
      self.url = url.normalized
      self.headers = headers
      self.headerFiles = headerFiles.map(\.absolutePath)
      self.body = body
      self.idempotencyKey = idempotencyKey
      self.caCertificates = caCertificates?.absolutePath
    }
  }

  extension SendRequest {
    /// A request with the same key to the same place is the same one, and a copied body belongs to one job.
    public var options: JobOptions {
      guard let key = idempotencyKey.map({ "\(self) \($0)" }) ?? body.copy.map({ "body \($0)" }) else {
        return JobOptions()
      }
      let isShort = key.utf8.count <= DurableJobs.Limits.nameBytes
      return JobOptions(unique: UniqueKey(isShort ? key : "request \(SHA256.hash(data: Data(key.utf8)).hexadecimal)"))
    }

    /// Throws ``RequestError/Code/invalidRequest`` for a request that can't be sent.
    public func validate() throws {
      func refuse(_ message: String) -> RequestError { RequestError(.invalidRequest, message) }
      let name = method.rawValue
      guard !name.isEmpty, name.allSatisfy(\.isOfHTTPToken), !["CONNECT", "TRACE"].contains(name.uppercased()) else {
        throw refuse("'\(name)' is no method that can be sent; as in: POST")
      }
      do {
        if try HTTPURL(checking: url).credentials != nil {
          throw refuse(
            "\(url.absoluteString.withoutSecrets) was given with a user, who would be stored; name a secret in a header, as in "
              + "'Authorization: Bearer {secret:TOKEN}', or have the outbox read a file like ~/.netrc")
        }
        for header in headers { try header.validate() }
      } catch let error as DownloadError {
        throw refuse(error.message)
      }
      if let type = body.type, !type.isHeaderValue { throw refuse("the type of the body has control characters in it") }
      for header in headers where !SecretNames.areWhole(in: header.value) {
        throw refuse(
          "the header \(header.name) names a secret in a way that can't be read; write {secret:NAME}, with "
            + "letters, digits, '_', '-' and '.' in the name")
      }
      if let file = (headerFiles + [caCertificates, body.fileInPlace].compactMap { $0 }).first(where: {
        !$0.hasPrefix("/")
      }) {
        throw refuse("the file '\(file)' is no absolute path")
      }
      if let bytes = body.bytes, bytes.count > Body.mostBytes {
        throw refuse(
          "a body of \(bytes.count) bytes belongs into a file: .file(_:copiedBeside:). In the store at most "
            + "\(Body.mostBytes) bytes are kept")
      }
      if let key = idempotencyKey,
        key.isEmpty || key.utf8.count > 255 || !key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
      {
        throw refuse("the idempotency key must have 1 to 255 characters of ASCII, and no spaces")
      }
    }
  }

  // Neither headers nor bodies are told: nobody knows what in them is a secret.
  extension SendRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(method.rawValue) \(url.withoutCredentials)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
  }
#endif
