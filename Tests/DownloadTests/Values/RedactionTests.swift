#if HTTP
  import DurableJobsSystem
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct RedactionTests {
    private let secret = #"ab/cd+"ef\gh é&i"#

    private func hidden(_ text: String) -> String { Redaction([Data(secret.utf8)])(text) }

    @Test(arguments: [
      #"ab/cd+"ef\gh é&i"#, #"ab/cd+\"ef\\gh é&i"#, #"ab\/cd+\"ef\\gh \u00e9&i"#,
      #"ab\u002Fcd\u002b\u0022ef\u005cgh\u0020\u00E9\u0026i"#, "ab%2Fcd%2B%22ef%5Cgh%20%C3%A9%26i",
      "ab%2fcd%2b%22ef%5cgh+%c3%a9%26i", "ab/cd+\"ef\\gh \u{c3}\u{a9}&i",
      #"ab\/cd+\"ef\\gh \u00C3\u00A9&i"#, #"ab/cd+"ef\gh &#195;&#169;&amp;i"#, #"ab/cd+"ef\gh &#xE9;&amp;i"#,
      "ab%2Fcd%2B%22ef%5Cgh%20%C3%83%C2%A9%26i", #"ab/cd+&quot;ef\gh é&amp;i"#, #"ab/cd+&#34;ef\gh é&amp;i"#,
    ]) func `A secret is found however a server writes it`(spelling: String) {
      #expect(hidden("it is \(spelling), and no other") == "it is ***, and no other")
      #expect(hidden("\(spelling)\(spelling)") == "******")
    }

    @Test func `What is JSON's own way of writing it is found`() throws {
      for options in [[], .withoutEscapingSlashes] as [JSONEncoder.OutputFormatting] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = options
        let text = String(decoding: try encoder.encode(["sent": secret]), as: UTF8.self)
        #expect(hidden(text) == #"{"sent":"***"}"#)
      }
    }

    @Test func `What only begins like a secret stays`() {
      #expect(hidden("ab/cd+, abc and 100%") == "ab/cd+, abc and 100%")
      #expect(Redaction([])("ab") == "ab")
    }

    @Test func `Where one secret is in another, or goes on from it, nothing of either is left`() {
      let redaction = Redaction(["value", "s3cret-value", "value-of-all"].map { Data($0.utf8) })
      #expect(redaction("a value, s3cret-value, s3cret-value-of-all") == "a ***, ***, ***")
    }

    @Test func `Of what was cut off nothing is left that a secret begins with`() {
      let redaction = Redaction([Data("s3cret/value".utf8)])
      func kept(_ text: String, isCut: Bool) -> String {
        String(decoding: redaction.kept(Data(text.utf8), 100, isCut: isCut), as: UTF8.self)
      }
      for (text, rest) in [("it is s3cret", "it is "), ("s3cret/value, s3cret%2", "***, "), ("it is so", "it is so")] {
        #expect(kept(text, isCut: true) == rest)
        #expect(kept("\(text).", isCut: true).hasSuffix("."))
      }
      #expect(kept("it is s3cret", isCut: false) == "it is s3cret")
    }

    @Test func `What is no text is found byte by byte`() {
      let redaction = Redaction([Data([0xff, 0x41, 0xfe])])
      #expect(redaction(Data([1, 0xff, 0x41, 0xfe, 2])) == Data([1]) + Data("***".utf8) + Data([2]))
      #expect(redaction("=%ffA%FE.") == "=***.")
    }

    @Test(arguments: 0..<6, 0..<4)
    func `A secret is found in what a server has encoded, with what stands before it and behind it`(
      before: Int, behind: Int
    ) {
      let secret = Data("s3cret?/väl>ue~".utf8)
      let text = Data(repeating: 0xfe, count: before) + secret + Data(repeating: 0x3f, count: behind)
      let encoded = text.base64EncodedString()
      // What holds a bit of it goes, too.
      let rest = encoded.dropFirst(((before + secret.count) * 8 + 5) / 6)
      let expected = "it is \(encoded.prefix(before * 8 / 6))***\(rest)."
      let redaction = Redaction([secret])
      #expect(redaction("it is \(encoded).") == expected)
      let forURL: (String) -> String = { $0.replacing("+", with: "-").replacing("/", with: "_") }
      #expect(redaction("it is \(forURL(encoded)).") == forURL(expected))
      let escaped: (String) -> String = { $0.replacing("+", with: "%2B").replacing("/", with: "%2F") }
      #expect(redaction("it is \(escaped(encoded)).") == escaped(expected))
    }

    @Test(arguments: ["\n", "\r\n", #"\n"#])
    func `A secret is found in base64 that is written in lines`(lineBreak: String) {
      let secret = String(repeating: "tok3n/", count: 12)
      let encoded = Array(Data("x: \(secret)".utf8).base64EncodedString())
      let lines = stride(from: 0, to: encoded.count, by: 20).map { String(encoded[$0..<min($0 + 20, encoded.count)]) }
      #expect(Redaction([Data(secret.utf8)])(lines.joined(separator: lineBreak)) == "eDog***")
    }

    @Test func `A password is found in what a server has encoded of its user`() {
      let credentials = HTTPURL.Credentials(user: Array("bob".utf8), password: Array("s3cret".utf8))
      for text in ["bob:s3cret", "user=bob, password=s3cret", "Authorization: \(credentials.basic)"] {
        for before in ["", "x", "xx"] {
          let encoded = Data((before + text).utf8).base64EncodedString()
          #expect(Redaction(credentials.secrets)(encoded).contains("***"), "\(before + text)")
        }
      }
    }

    @Test func `What is too short to be told from any other text is hidden as it stands alone`() {
      #expect(Redaction([Data("ab".utf8)])("ab, and \(Data("ab".utf8).base64EncodedString())") == "***, and YWI=")
    }

    @Test(arguments: [
      ("Authorization", true), ("X-Api-Key", true), ("Cookie", true), ("X-Auth-Token", true),
      ("Idempotency-Key", false),
      ("X-Monkey", false), ("Accept", false),
    ]) func `A header is secret by its name`(name: String, isSecret: Bool) {
      #expect(SecretPlaces.isSecret(header: name) == isSecret)
    }

    @Test(arguments: [
      "pwd", "PHPSESSID", "jsessionid", "sessionid", "session_id", "pw", "psw", "pin", "totp", "SAMLResponse",
      "assertion", "X-Amz-Signature",
    ]) func `A field of a query is secret by more names`(name: String) {
      #expect(SecretPlaces.isSecret(field: name))
      #expect(!SecretPlaces.isSecret(field: "spinning"))
    }

    @Test func `A field of a query is secret by its name, as it stands there and as it is meant`() throws {
      let url = try #require(URL(string: "http://h/a?page=seven&to%6ben=a%2Bb+cd&sig=short&x=y;code=1"))
      let found = Set(url.secretFields.map { String(decoding: $0, as: UTF8.self) })
      #expect(found == ["a%2Bb+cd", "a+b+cd", "a+b cd", "short"])
    }
  }
#endif
