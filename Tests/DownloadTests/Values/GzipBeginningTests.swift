#if HTTP
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct GzipBeginningTests {
    /// As zlib packs, by the way in which the first block is packed.
    static let twice = [
      "stored":
        "H4sICAAAAAAC/2EAk+/m4GAAAqb/iXpJmXkMvzesVTXLzsu6y3e27u7yqmzvvvOisXL7M8reZiX/vcWkx7DjWdVTOaAGAI+qpEk5AAAA",
      "stored, with a name": "H4sICAAAAAAA/2EAARkA5v8fiwgAAAAAAAL/y0jNyckHAIamEDYFAAAAguINYRkAAAA=",
      "fixed": "H4sIAAAAAAAC/5Pv5mAAAab/pz3OnjzJztC2TMCMFSgAAILiDWEZAAAA",
      "dynamic": """
      H4sIAAAAAAAC/yWQwY1dUQhD/9+lhmxCAekmFSCBBBssGXeRzdSVombCS+7qCoTt4x+/v73+va/3xxufHmpVlS1UuRtZjdBkpjHXsElUEQNDdS5Nbq3h/dAd\
      xecGu+ZDG5VRzp3Kyo6ImzuRILGcmGpjnIw/g6wJgluzk2TcOhLmDBc7TXpU0AqflnvzvK1rqpS9s7dqIjaR6+lFW8JYoF34GLPNdmRL3b7RnsxAlMfRYYSw\
      DZRsm5UT2+mYsztp0yU+MUJ55ofRF7dnRv1f4nparfvoQHUo1+b0zasvX4alVokL6Co3uHbZPADBno77iA9DmqhHlN9//vn18X69/gLMQL1gpwEAAA==
      """,
    ]

    @Test(arguments: twice) func `a packed file that is packed again is known by its first bytes`(
      kind: String, text: String
    )
      throws
    {
      let bytes = Array(try #require(Data(base64Encoded: text)))
      let needed = try #require((0...bytes.count).first { GzipBeginning.isPackedTwice(bytes.prefix($0)) != nil })
      for count in [needed, bytes.count] { #expect(GzipBeginning.isPackedTwice(bytes.prefix(count)) == true) }
    }

    @Test(arguments: [
      "H4sIAAAAAAAC/8tIzcnJBwCGphA2BQAAAA==", "",
      """
      H4sIAAAAAAAC/yWQUQoAQQhCr9LVgoL6STDvzzbs32CM+vRQq6psocrdyGqEJjONuYZNoooYGKpzaXJrDe+F7ii+P9g1H9qojHLuVFZ2RJzuRILEcmKqjXE2\
      /oSsCYJbs5Nk3DkS5gwXO016LmiFT8u9ednWNVXK3tk7NRGbyPX0oi1hLNCufIzZZjuypW7faE9mIMrj6DBC2AZKts3Kie10zMWdtekanxmhvPDD6KvbM6P+\
      LW6n1bqPDlSHcmtOn159/TIstUpcQVe5wbXL5gEI9jbuIz4MaaKeKT8aLMpTkAEAAA==
      """, "AAAA", "/////////////////////////w==",
    ]) func `what is packed once is not`(text: String) throws {
      let bytes = Array(try #require(Data(base64Encoded: text)))
      #expect(GzipBeginning.isPackedTwice(bytes) == (bytes.isEmpty ? nil : false))
    }

    @Test func `no bytes do harm`() {
      let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
      var number: UInt64 = 1
      for _ in 0..<2000 {
        let bytes = (0..<200).map { _ in
          number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return UInt8(number >> 56)
        }
        #expect(GzipBeginning.isPackedTwice(head + bytes) != true)
      }
    }
  }
#endif
