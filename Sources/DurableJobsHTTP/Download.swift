#if HTTP
  import DurableJobs
  import Foundation

  /// A file to be fetched over HTTP or HTTPS, as a durable job. A ``Downloader`` runs it.
  ///
  ///     let downloader = Downloader(store: store)
  ///     downloader.register(with: worker)
  ///     let file = try await queue.enqueue(Download(from: url, to: folder)).value
  ///
  /// The file grows as `NAME.part` beside its place, with what is needed to go on in `NAME.part.json`, and comes under its
  /// own name, whole and flushed to the disk, before the job succeeds. Whatever ends the process, the next attempt goes on
  /// where this one stopped. A file of at most 256 kB is kept in memory for its first second.
  ///
  /// Its identity is its URL and its destination: while such a download is unfinished, a second `enqueue` of it returns
  /// the first one's handle, whatever else the two ask for. Its job's key is that identity, by which a later download
  /// finds what this one brought: give it no other key.
  public struct Download: JobPayload, Hashable {
    public typealias Output = DownloadedFile

    public static let kind = "download"

    /// 20 attempts, at first after 1 s, later after at most 5 min; an attempt that brought the file further is none.
    public static let retry = RetryPolicy.exponential(maxAttempts: 20, cap: .seconds(300))

    /// A header of the request.
    public struct Header: Codable, Hashable, Sendable {
      public var name: String
      public var value: String

      public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
      }
    }

    /// `http` or `https`. A user and a password in it are sent as basic authentication, to its own host only.
    public var url: URL
    /// The absolute path of the folder that the file comes into. It must exist when the job runs.
    public var folder: String
    /// The name of the file; nil for the server's (`Content-Disposition`), else the URL's.
    public var name: String?
    /// What the whole file's SHA-256 must be, in hexadecimal.
    public var sha256: String?
    /// How many bytes the file must have.
    public var size: Int64?
    /// Sent with each request to the URL's own host, and never to another one that it redirects to.
    public var headers: [Header]
    /// Whether a file that is there already may be replaced.
    public var overwrites: Bool
    /// Whether the file gets the server's modification time (`Last-Modified`). Otherwise it has that of its last byte.
    public var keepsServerTime: Bool
    /// The absolute path of a file of certificates (PEM) that are trusted in place of the system's.
    public var caCertificates: String?

    public init(
      from url: URL, to folder: URL, named name: String? = nil, sha256: String? = nil, size: Int64? = nil,
      headers: [Header] = [], overwrites: Bool = false, keepsServerTime: Bool = false, caCertificates: URL? = nil
    ) {
      self.url = url.normalized
      self.folder = folder.standardizedFileURL.path
      self.name = name
      self.sha256 = sha256?.lowercased()
      self.size = size
      self.headers = headers
      self.overwrites = overwrites
      self.keepsServerTime = keepsServerTime
      self.caCertificates = caCertificates?.standardizedFileURL.path
    }
  }

  extension Download {
    /// What it is known by, and what there is one unfinished download of: its URL and its destination.
    public var identity: String {
      let text = "download \(url.withoutCredentials) -> \(folder)/\(name ?? "")"
      guard text.utf8.count > DurableJobs.Limits.nameBytes else { return text }
      return "download \(SHA256.hash(data: Data(text.utf8)).hexadecimal)"
    }

    public var options: JobOptions { JobOptions(key: identity, unique: UniqueKey(identity)) }

    /// Whether a file of that size and checksum is what was asked for, as far as that is known.
    func isContent(_ size: Int64, _ sha256: String?) -> Bool {
      self.size.map { $0 == size } ?? true && self.sha256.map { $0.lowercased() == sha256 } ?? true
    }

    /// Throws ``DownloadError/Code/invalidDownload``.
    public func validate() throws {
      func refuse(_ message: String) -> DownloadError { DownloadError(.invalidDownload, message) }
      guard let scheme = url.scheme?.lowercased() else {
        throw refuse("\(url) has no scheme; write https://\(url)")
      }
      guard ["http", "https"].contains(scheme) else {
        throw refuse("\(url) is no http or https URL; others can't be downloaded")
      }
      guard url.isFetchable else { throw refuse("\(url) names no host") }
      guard folder.hasPrefix("/") else { throw refuse("the folder '\(folder)' is no absolute path") }
      if let name, FileName(exactly: name) == nil {
        throw refuse("'\(name)' can't be the name of a file: no '/', no control characters, at most 244 bytes")
      }
      if let sha256, sha256.count != 64 || !sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
        throw refuse("'\(sha256)' is no SHA-256; it has 64 hexadecimal digits")
      }
      if let size, size < 0 { throw refuse("a file can't have \(size) bytes") }
      for header in headers { try header.validate() }
    }
  }

  extension Download.Header {
    /// Throws ``DownloadError/Code/invalidDownload`` for what could not be sent as a header, or would be another one too.
    func validate() throws {
      let marks = Set("!#$%&'*+-.^_`|~")
      guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || marks.contains($0) }) else {
        throw DownloadError(.invalidDownload, "'\(name)' can't be the name of a header; as in: Accept: text/plain")
      }
      guard value.unicodeScalars.allSatisfy({ $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7f }) else {
        throw DownloadError(.invalidDownload, "the value of the header \(name) has control characters in it")
      }
    }
  }

  /// What a download brought.
  public struct DownloadedFile: Codable, Hashable, Sendable {
    /// Absolute.
    public var path: String
    /// In bytes.
    public var size: Int64
    /// Of the whole file, in hexadecimal; nil unless one was asked for.
    public var sha256: String?
    /// The file's modification time as it was when the download succeeded, in nanoseconds since 1970.
    public var modified: Int64
    /// Whether it was there already, so that nothing had to be fetched.
    public var wasThere: Bool

    public init(path: String, size: Int64, sha256: String?, modified: Int64, wasThere: Bool) {
      self.path = path
      self.size = size
      self.sha256 = sha256
      self.modified = modified
      self.wasThere = wasThere
    }
  }
#endif
