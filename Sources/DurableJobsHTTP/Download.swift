#if HTTP
  import DurableJobs
  import Foundation

  /// A file to download over HTTP or HTTPS, as a durable job. A ``Downloader`` runs it.
  ///
  ///     let downloader = Downloader(store: store)
  ///     downloader.register(with: worker)
  ///     let file = try await queue.enqueue(Download(from: url, to: folder)).value
  ///
  /// While incomplete, the file is `NAME.part` in its folder, with what is needed to resume in `NAME.part.json`. It
  /// gets its own name, complete and flushed to disk, before the job succeeds. However the process ends, the next
  /// attempt resumes there. A file of at most 256 kB is kept in memory for its first second. If the server has another
  /// version by then, that grows as `NAME~new.part`, and the old part is deleted once it is complete.
  ///
  /// A file that is there already is done if it comes to the `sha256`. Where none is given, it is done if it is as a download
  /// of this store left it; if an earlier one, of whichever store, brought it from this URL and the server still has that version,
  /// which is noted on the file where its file system can; or if the server tells its very size and time, which files have that
  /// were fetched with `keepsServerTime`, or by others who keep that, unless what is noted says that it is another URL's or
  /// another user's. Else it is an error: see `overwrites` and `skipsExisting`.
  ///
  /// A download is identified by its URL and destination: while one is unfinished, a second `enqueue` returns its
  /// handle, even if the two differ in other ways. The job's key is that identity, by which a later download finds the
  /// result of this one: do not set another key.
  public struct Download: JobPayload, Hashable {
    public typealias Output = DownloadedFile

    public static let kind = "download"

    /// Waits 1 s after the first failure, later at most 5 min.
    public static let retry = RetryPolicy.exponential(cap: .seconds(300))
    /// 20 attempts. An attempt that made progress does not count; of those that reach no server, after the first eight,
    /// one in two hours counts, so that a day without a network does no harm.
    public static let options = JobOptions(maxAttempts: 20)

    /// A header of the request.
    public typealias Header = HTTPHeader

    /// An `http` or `https` URL. A user and password in it are sent as basic authentication, to its own host only.
    public var url: URL
    /// The absolute path of the folder for the file. It must exist when the job runs.
    public var folder: String
    /// The name of the file; nil for the server's (`Content-Disposition`), or else the URL's.
    public var name: String?
    /// The required SHA-256 of the whole file, in hexadecimal.
    public var sha256: String?
    /// The required size of the file, in bytes.
    public var size: Int64?
    /// Whether to accept a file that ends with its connection although neither size nor checksum is known: if the
    /// connection was cut, the file is cut too, unnoticed. By default such a download fails.
    public var acceptsUnknownLength: Bool
    /// Headers sent with each request to the URL's own host, and never to another one that it redirects to. ``validate()``
    /// refuses those that the client sets itself, such as `Content-Length` and `Range`.
    public var headers: [Header]
    /// Whether an existing file may be replaced; never one that appeared or changed since the first attempt started, or
    /// that another download brought since this one was enqueued.
    public var overwrites: Bool
    /// Whether to accept an existing file: with a `sha256` if that matches, otherwise unless the server reports another
    /// size or a change after the file's own time, or a download of another URL brought it since this one was enqueued.
    /// A file that is not accepted is replaced if `overwrites` is set, and an error otherwise.
    public var skipsExisting: Bool
    /// Whether the file gets the server's modification time (`Last-Modified`) rather than that of its last byte.
    public var keepsServerTime: Bool
    /// The absolute path of a file of certificates (PEM) that are trusted in place of the system's.
    public var caCertificates: String?
    var nonce = Nonce()

    public init(
      from url: URL, to folder: URL, named name: String? = nil, sha256: String? = nil, size: Int64? = nil,
      acceptsUnknownLength: Bool = false, headers: [Header] = [], overwrites: Bool = false, skipsExisting: Bool = false,
      keepsServerTime: Bool = false, caCertificates: URL? = nil
    ) {
      self.url = url.normalized
      self.folder = folder.absolutePath
      self.name = name
      self.sha256 = sha256?.lowercased()
      self.size = size
      self.acceptsUnknownLength = acceptsUnknownLength
      self.headers = headers
      self.overwrites = overwrites
      self.skipsExisting = skipsExisting
      self.keepsServerTime = keepsServerTime
      self.caCertificates = caCertificates?.absolutePath
    }
  }

  extension Download {
    /// Also decodes payloads that were stored before some properties existed.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      url = try values.decode(URL.self, forKey: .url)
      folder = try values.decode(String.self, forKey: .folder)
      name = try values.decodeIfPresent(String.self, forKey: .name)
      sha256 = try values.decodeIfPresent(String.self, forKey: .sha256)
      size = try values.decodeIfPresent(Int64.self, forKey: .size)
      acceptsUnknownLength = try values.decodeIfPresent(Bool.self, forKey: .acceptsUnknownLength) ?? false
      headers = try values.decode([Header].self, forKey: .headers)
      overwrites = try values.decode(Bool.self, forKey: .overwrites)
      skipsExisting = try values.decodeIfPresent(Bool.self, forKey: .skipsExisting) ?? false
      keepsServerTime = try values.decode(Bool.self, forKey: .keepsServerTime)
      caCertificates = try values.decodeIfPresent(String.self, forKey: .caCertificates)
      nonce = try values.decodeIfPresent(Nonce.self, forKey: .nonce) ?? Nonce()
    }

    /// The identity, of which there is at most one unfinished download: the URL and the destination.
    public var identity: String {
      guard description.utf8.count > DurableJobs.Limits.nameBytes else { return description }
      return "download \(SHA256.hash(data: Data(description.utf8)).hexadecimal)"
    }

    /// The name of the file unless the server gives another.
    package var expectedName: String { name ?? FileName(of: url).description }

    /// The name that a file gets whose server calls it so.
    package static func harmlessName(_ name: String) -> String { FileName(harmless: name).description }

    public var options: JobOptions { JobOptions(key: identity, unique: UniqueKey(identity)) }

    /// The URL to request. Throws ``DownloadError/Code/invalidDownload``.
    var address: HTTPURL {
      get throws {
        try HTTPURL(checking: url)
      }
    }

    /// Throws ``DownloadError/Code/invalidDownload`` for a download that can't be run.
    public func validate() throws {
      func refuse(_ message: String) -> DownloadError { DownloadError(.invalidDownload, message) }
      _ = try address
      guard folder.hasPrefix("/") else { throw refuse("the folder '\(folder)' is no absolute path") }
      if let name, FileName(exactly: name) == nil {
        throw refuse(
          "'\(name)' can't be the name of a file: no '/', no control characters, at most 245 bytes, and "
            + "no .part at its end")
      }
      if let sha256, sha256.count != 64 || !sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
        throw refuse("'\(sha256)' is no SHA-256; it has 64 hexadecimal digits")
      }
      if let size, size < 0 { throw refuse("a file can't have \(size) bytes") }
      if let size, size > 1 << 60 { throw refuse("no file has \(size) bytes") }
      for header in headers {
        try header.validate()
        if ["range", "if-range"].contains(header.name.lowercased()) {
          throw refuse("the header \(header.name) can't be given: a download asks by itself for what it lacks")
        }
      }
    }
  }

  // The description contains nothing that may be secret.
  extension Download: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "download \(url.withoutCredentials) -> \(folder)/\(name ?? "")" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
  }

  /// The result of a download.
  public struct DownloadedFile: Codable, Hashable, Sendable {
    /// The absolute path.
    public var path: String
    /// The size in bytes.
    public var size: Int64
    /// The SHA-256 of the whole file, in hexadecimal; nil unless one was required.
    public var sha256: String?
    /// The file's modification time when the download succeeded, in nanoseconds since 1970.
    public var modified: Int64
    /// Whether the file already existed, so that nothing had to be downloaded.
    public var wasThere: Bool
    /// As whom servers were asked for it: ``FileVersion/users``.
    var user: String?
    /// Whether its time is its server's, and not that of its last byte; nil for the latter.
    package var hasServerTime: Bool?
    /// A digest of its last bytes; nil for a file that an earlier version brought, or that was there.
    var tail: String?

    public init(path: String, size: Int64, sha256: String?, modified: Int64, wasThere: Bool) {
      self.path = path
      self.size = size
      self.sha256 = sha256
      self.modified = modified
      self.wasThere = wasThere
    }
  }
#endif
