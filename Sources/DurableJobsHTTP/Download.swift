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
  /// where this one stopped. A file of at most 256 kB is kept in memory for its first second. Where the server has another
  /// version by then, that one grows as `NAME~new.part`, and the old part goes once it is whole.
  ///
  /// A file that is there already is done if it comes to the `sha256`. Where none is given, it is done if it is as a download
  /// of this store left it; if an earlier one, of whichever store, brought it from this URL and the server still has that version,
  /// which is noted on the file where its file system can; or if the server tells its very size and time, which files have that
  /// were fetched with `keepsServerTime`, or by others who keep that. Else it is an error: see `overwrites` and `skipsExisting`.
  ///
  /// Its identity is its URL and its destination: while such a download is unfinished, a second `enqueue` of it returns
  /// the first one's handle, whatever else the two ask for. Its job's key is that identity, by which a later download
  /// finds what this one brought: give it no other key.
  public struct Download: JobPayload, Hashable {
    public typealias Output = DownloadedFile

    public static let kind = "download"

    /// At first after 1 s, later after at most 5 min.
    public static let retry = RetryPolicy.exponential(cap: .seconds(300))
    /// 20 attempts. One that brought the file further is none; of those that reach no server one in two hours counts, after
    /// the first eight, so that a day without a network is borne.
    public static let options = JobOptions(maxAttempts: 20)

    /// A header of the request.
    public typealias Header = HTTPHeader

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
    /// Whether a file may be taken that ends where its connection does, when neither a size nor a checksum is known: a
    /// connection that was cut gives a file that is cut, and nobody notices. Otherwise such a download fails.
    public var acceptsUnknownLength: Bool
    /// Sent with each request to the URL's own host, and never to another one that it redirects to.
    public var headers: [Header]
    /// Whether a file that is there already may be replaced; never one that came or changed since the first attempt began,
    /// nor one that another download brought since this was asked for.
    public var overwrites: Bool
    /// Whether a file that is there already is taken for the one that is wanted: with a `sha256` if that fits, else unless
    /// the server tells another size, or a change that is later than the file's own time, or a download of another URL
    /// brought it since this was asked for. Another file is replaced if this `overwrites`, and an error otherwise.
    public var skipsExisting: Bool
    /// Whether the file gets the server's modification time (`Last-Modified`). Otherwise it has that of its last byte.
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
      self.folder = folder.standardizedFileURL.path
      self.name = name
      self.sha256 = sha256?.lowercased()
      self.size = size
      self.acceptsUnknownLength = acceptsUnknownLength
      self.headers = headers
      self.overwrites = overwrites
      self.skipsExisting = skipsExisting
      self.keepsServerTime = keepsServerTime
      self.caCertificates = caCertificates?.standardizedFileURL.path
    }
  }

  extension Download {
    /// Reads what was stored before some of it was there, too.
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

    /// What it is known by, and what there is one unfinished download of: its URL and its destination.
    public var identity: String {
      guard description.utf8.count > DurableJobs.Limits.nameBytes else { return description }
      return "download \(SHA256.hash(data: Data(description.utf8)).hexadecimal)"
    }

    /// What the file is called unless the server says otherwise.
    package var expectedName: String { name ?? FileName(of: url).description }

    public var options: JobOptions { JobOptions(key: identity, unique: UniqueKey(identity)) }

    /// Where it is fetched from. Throws ``DownloadError/Code/invalidDownload``.
    var address: HTTPURL {
      get throws {
        try HTTPURL(checking: url)
      }
    }

    /// Throws ``DownloadError/Code/invalidDownload``.
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

  // It says nothing that may be a secret.
  extension Download: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "download \(url.withoutCredentials) -> \(folder)/\(name ?? "")" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
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
