#if HTTP
  import DurableJobs
  import Foundation

  extension SendRequest {
    /// The body of a request.
    public struct Body: Hashable, Sendable {
      private enum Source: Hashable, Sendable {
        case none
        case bytes(Data)
        case fileInPlace(String)
        case copy(String)
      }

      private let source: Source
      /// Sent as `Content-Type`, unless a header sets that.
      public var type: String?

      /// The most bytes that are kept in the store itself.
      public static let mostBytes = 1 << 20
      /// The most bytes that are copied beside the store: 5 GB.
      public static let mostBytesOfCopy: Int64 = 5 << 30

      /// No body.
      public static let none = Body(source: .none, type: nil)

      /// Bytes that are kept in the store, at most ``mostBytes``.
      public static func data(_ data: Data, type: String? = "application/octet-stream") -> Body {
        Body(source: .bytes(data), type: type)
      }

      /// A value as JSON, kept in the store. Throws errors of encoding it.
      public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> Body {
        .data(try encoder.encode(value), type: "application/json")
      }

      /// A copy of a file, made now, beside the file of `store`: what becomes of the file later does not change what is sent.
      /// It belongs to the one job that is stored with it, and is deleted after that has succeeded, or with its row; one
      /// that was not stored is deleted after some hours. A file of at most 64 KB is kept in the store itself. The copy for
      /// an `InMemoryStore` goes with the process, as its jobs do; a store that is in no file and outlives its process takes
      /// none; but one on a server has them in `PostgresStore.Configuration.folder`, if that is set, and the workers of
      /// this machine send them. Throws ``RequestError``, also if it has more than ``mostBytesOfCopy``, or would leave the
      /// store less room than that may need: 16 MB, or an eighth of a small disk.
      public static func file(
        _ file: URL, type: String? = "application/octet-stream", copiedBeside store: any JobStore
      ) throws -> Body {
        let path = file.absolutePath
        return try copy(of: Descriptor(reading: path), path, type, store)
      }

      /// The same of what comes through standard input.
      package static func standardInput(type: String?, copiedBeside store: any JobStore) throws -> Body {
        try copy(of: Descriptor(dup(0)), "standard input", type, store)
      }

      private static func copy(
        of source: Descriptor, _ path: String, _ type: String?, _ store: any JobStore
      ) throws -> Body {
        let steady: SteadyFile
        do { steady = try SteadyFile(source, path) } catch let error as DownloadError { throw RequestError(error) }
        let beginning = try source.next(smallBytes + 1, path)
        guard beginning.count > smallBytes else {
          try steady.check(path)
          return .data(beginning, type: type)
        }
        let folder = BodyFolder(of: store)
        guard folder.keepsCopies else {
          throw RequestError(
            .unusableBody,
            "\(path) has more than 64 KB, and the store no file beside which a copy would last as long as its jobs: "
              + "keep the file where it is, as file(inPlace:); or name the folder of a store on a server, as "
              + "PostgresStore.Configuration.folder")
        }
        return Body(source: .copy(try folder.copy(source, path, after: beginning, steady)), type: type)
      }

      /// Files that are no larger are kept in the store.
      private static let smallBytes = 1 << 16

      /// A file that is read where it is each time the request is sent. If it is gone, the request fails.
      public static func file(inPlace file: URL, type: String? = "application/octet-stream") -> Body {
        Body(source: .fileInPlace(file.absolutePath), type: type)
      }

      package var bytes: Data? { if case .bytes(let data) = source { data } else { nil } }
      package var fileInPlace: String? { if case .fileInPlace(let path) = source { path } else { nil } }
      /// The name of the copy, in a ``BodyFolder``.
      package var copy: String? { if case .copy(let name) = source { name } else { nil } }
    }
  }

  extension SendRequest.Body: Codable {
    private enum CodingKeys: CodingKey { case type, data, file, copy }

    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      type = try values.decodeIfPresent(String.self, forKey: .type)
      if let name = try values.decodeIfPresent(String.self, forKey: .copy) {
        source = .copy(name)
      } else if let path = try values.decodeIfPresent(String.self, forKey: .file) {
        source = .fileInPlace(path)
      } else if let bytes = try values.decodeIfPresent(TextOrBytes.self, forKey: .data) {
        source = .bytes(bytes.data)
      } else {
        source = .none
      }
    }

    public func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encodeIfPresent(type, forKey: .type)
      try values.encodeIfPresent(copy, forKey: .copy)
      try values.encodeIfPresent(fileInPlace, forKey: .file)
      try values.encodeIfPresent(bytes.map { TextOrBytes(data: $0) }, forKey: .data)
    }
  }
#endif
