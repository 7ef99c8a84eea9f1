#if HTTP
  import NIOHTTP1
  import Testing

  @testable import DurableJobsHTTP

  /// What answers mean, from their heads alone.
  @Suite struct FileAnswerTests {
    private func verdict(
      _ status: Int, _ headers: HTTPHeaders, _ question: FileAnswer.Question = FileAnswer.Question(),
      version: HTTPVersion = .http1_1
    ) -> String {
      FileAnswer(status: status, headers: headers, version: version).verdict(on: question).inShort
    }

    /// 100 bytes of 1,000 are here, of a file with the tag "a".
    private let resuming = FileAnswer.Question(
      offset: 100, here: 100, known: FileVersion(total: 1000, entityTag: "\"a\"", lastModified: nil))

    @Test func `A whole file begins at 0 and ends at its length`() {
      #expect(verdict(200, ["Content-Length": "1000"]) == "body 0-1000")
      #expect(verdict(200, ["Transfer-Encoding": "chunked"]) == "body 0-?")
      #expect(verdict(200, [:], version: .http2) == "body 0-?")
    }

    @Test func `A file that something on the way may have changed comes whole, and is gone on from by nobody`() {
      for question in [FileAnswer.Question(), resuming] {
        let headers: HTTPHeaders = ["Content-Length": "1000", "ETag": "\"a\"", "Last-Modified": "then"]
        guard
          case .body(0, 1000, let version) = FileAnswer(status: 203, headers: headers, version: .http1_1)
            .verdict(on: question)
        else {
          Issue.record("no body")
          return
        }
        #expect(version.validator == nil)
      }
      #expect(verdict(203, ["Content-Length": "10"], resuming).hasPrefix("failed for now: the server sent 10 bytes"))
      #expect(verdict(203, ["Transfer-Encoding": "gzip, chunked"]).contains("'gzip'"))
      #expect(
        verdict(203, html + ["Content-Length": "9"], FileAnswer.Question(name: "a.iso")).hasPrefix("failed for now"))
    }

    @Test func `A whole file in answer to a range starts over`() {
      #expect(verdict(200, ["Content-Length": "1000"], resuming) == "body 0-1000")
    }

    @Test func `Of two lengths under one tag the one is taken at which the other's bytes ended, but not from a cache`()
    {
      let known = FileVersion(total: 1000, entityTag: "\"a\"", lastModified: nil)
      var question = FileAnswer.Question(known: known)
      question.here = 500
      let headers: HTTPHeaders = ["Content-Length": "500", "ETag": "\"a\""]
      #expect(verdict(200, headers, question) == "body 0-500")
      for name in ["Via", "Age"] {
        let said = verdict(200, headers + [name: "1"], question)
        #expect(said.contains("if that is right, say so with --size 500"), "with \(name): \(said)")
      }
      question.here = 400
      #expect(verdict(200, headers, question).contains("--size 500"))
    }

    @Test func `A body that ends with its connection is taken only where something else can tell its end`() {
      #expect(verdict(200, [:]).hasPrefix("failed: the server doesn't say where the file ends"))
      #expect(verdict(200, [:], FileAnswer.Question(size: 5)) == "body 0-?")
      #expect(verdict(200, [:], FileAnswer.Question(hasChecksum: true)) == "body 0-?")
      #expect(verdict(200, [:], FileAnswer.Question(acceptsUnknownLength: true)) == "body 0-?")
      #expect(verdict(200, ["Content-Length": "9", "Transfer-Encoding": "identity"]).hasPrefix("failed"))
    }

    @Test(
      arguments: [
        ([:], .http1_1, .untold), ([:], .http1_0, .untold), ([:], .http2, .told),
        (["Content-Length": "9"], .http1_1, .after(9)), (["Content-Length": "9"], .http1_0, .after(9)),
        (["Content-Length": "9"], .http2, .after(9)), (["Content-Length": "9, 9"], .http1_1, .after(9)),
        (["Content-Length": "9, 8"], .http1_1, .untold), (["Content-Length": "+9"], .http1_1, .untold),
        (["Content-Length": "-1"], .http2, .untold), (["Content-Length": "99999999999999999999"], .http1_1, .untold),
        (["Transfer-Encoding": "chunked"], .http1_1, .told), (["Transfer-Encoding": "Chunked"], .http1_1, .told),
        (["Transfer-Encoding": "chunked"], .http1_0, .untold), (["Transfer-Encoding": "identity"], .http1_1, .untold),
        (["Transfer-Encoding": "chunked, identity"], .http1_1, .untold), (["Transfer-Encoding": ""], .http1_1, .untold),
        (["Transfer-Encoding": "gzip, chunked"], .http1_1, .coded("gzip")),
        (["Transfer-Encoding": "gzip"], .http1_1, .coded("gzip")),
        (["Transfer-Encoding": "chunked, gzip"], .http1_1, .coded("gzip")),
        (["Transfer-Encoding": "identity", "Content-Length": "9"], .http1_1, .untold),
      ] as [(HTTPHeaders, HTTPVersion, BodyEnd)])
    func `Where a body ends is told by its length or by chunks, and chunks go before`(
      headers: HTTPHeaders, version: HTTPVersion, end: BodyEnd
    ) {
      #expect(BodyEnd(headers, version) == end)
    }

    @Test func `A transfer coding that nobody asked for is refused, whatever else is known`() {
      let question = FileAnswer.Question(size: 5, hasChecksum: true, acceptsUnknownLength: true)
      #expect(verdict(200, ["Transfer-Encoding": "gzip, chunked"], question).contains("'gzip'"))
    }

    @Test(arguments: [
      ("bytes 100-999/1000", "body 100-1000"),
      ("bytes 100-199/1000", "body 100-200"),
      ("bytes 0-999/1000", "ask for all"),
      ("bytes 101-999/1000", "ask for all"),
      ("bytes 100-999/2000", "ask for all"),
      ("bytes 100-1000/1000", "ask for all"),
      ("bytes 100-99/1000", "ask for all"),
      ("bytes 100-999/*", "ask for all"),
      ("bytes */1000", "ask for all"),
      ("pages 100-999/1000", "ask for all"),
      ("bytes 100-999", "ask for all"),
      ("bytes -5-999/1000", "ask for all"),
      ("", "ask for all"),
    ]) func `A part is taken where it fits to what is here`(range: String, expected: String) {
      #expect(verdict(206, ["Content-Range": range, "ETag": "\"a\""], resuming) == expected)
    }

    @Test func `A part of another version, or of two ranges, is not taken, whatever was asked for`() {
      #expect(verdict(206, ["Content-Range": "bytes 100-999/1000", "ETag": "\"b\""], resuming) == "ask for all")
      let range: HTTPHeaders = ["Content-Range": "bytes 100-999/1000", "ETag": "\"a\""]
      #expect(verdict(206, range + ["Content-Range": "bytes 0-899/1000"], resuming) == "ask for all")
    }

    @Test(
      arguments: [
        ("\"a\"", "then", ["ETag": "\"a\"", "Last-Modified": "then"], true, true),
        ("\"a\"", "then", ["ETag": "\"a\""], true, true),
        ("\"a\"", "then", ["Last-Modified": "then"], false, true),
        ("\"a\"", nil, [:], false, true),
        ("\"a\"", nil, ["ETag": "W/\"a\""], false, false),
        (nil, "then", ["Last-Modified": "then"], true, true),
        (nil, "then", ["ETag": "\"a\"", "Last-Modified": "then"], true, true),
        (nil, "then", [:], false, true),
        (nil, "then", ["ETag": "\"a\""], false, true),
        (nil, "then", ["Last-Modified": "now"], false, false),
      ] as [(String?, String?, HTTPHeaders, Bool, Bool)])
    func `A part is taken if it says again which version it is of, or if a checksum will tell`(
      tag: String?, date: String?, headers: HTTPHeaders, isTaken: Bool, isTakenWithChecksum: Bool
    ) {
      var question = FileAnswer.Question(
        offset: 100, known: FileVersion(total: 1000, entityTag: tag, lastModified: date))
      let headers = headers + ["Content-Range": "bytes 100-999/1000"]
      #expect(verdict(206, headers, question) == (isTaken ? "body 100-1000" : "ask for all"))
      question.hasChecksum = true
      #expect(verdict(206, headers, question) == (isTakenWithChecksum ? "body 100-1000" : "ask for all"))
    }

    @Test func `A part keeps the version that its first bytes were of`() {
      let known = FileVersion(total: 1000, entityTag: "\"a\"", lastModified: nil)
      let answer = FileAnswer(
        status: 206, headers: ["Content-Range": "bytes 100-999/1000", "Last-Modified": "then"], version: .http1_1)
      guard
        case .body(_, _, let version) = answer.verdict(
          on: FileAnswer.Question(offset: 100, known: known, hasChecksum: true))
      else {
        Issue.record("no body")
        return
      }
      #expect(version == known)
    }

    @Test func `A part whose length is not that of its range, or that is one of several, is not taken`() {
      let headers: HTTPHeaders = ["Content-Range": "bytes 100-999/1000", "ETag": "\"a\""]
      #expect(verdict(206, headers + ["Content-Length": "900"], resuming) == "body 100-1000")
      #expect(verdict(206, headers + ["Content-Length": "899"], resuming) == "ask for all")
      #expect(verdict(206, headers + ["Content-Length": "1000"], resuming) == "ask for all")
      #expect(verdict(206, headers + ["Content-Type": "Multipart/ByteRanges; boundary=a"], resuming) == "ask for all")
    }

    @Test func `A part that was packed for the way is none of a file that came as it is`() {
      let headers: HTTPHeaders = [
        "Content-Range": "bytes 100-999/1000", "ETag": "\"a\"", "Content-Encoding": "gzip",
        "Transfer-Encoding": "chunked",
      ]
      var question = resuming
      question.name = "a.tar.gz"
      #expect(verdict(206, headers, question) == "ask for all")
      question.known.coding = "gzip"
      #expect(verdict(206, headers, question) == "body 100-1000", "it is labelled so each time")
    }

    @Test func `A few words with a weak tag do not take the place of what has begun to come`() {
      var question = resuming
      question.known.type = "application/octet-stream"
      let words: HTTPHeaders = ["Content-Length": "47", "Content-Type": "text/plain"]
      for tag in ["W/\"2f\"", nil] {
        #expect(
          verdict(200, words + (tag.map { HTTPHeaders([("ETag", $0)]) } ?? [:]), question).hasPrefix("failed for now"))
      }
      #expect(verdict(200, words + ["ETag": "\"b\""], question) == "body 0-47", "another version")
    }

    // MARK: Pages

    private let html: HTTPHeaders = ["Content-Type": "Text/HTML; charset=utf-8"]

    @Test(arguments: ["a.iso", "a.ZIP", "a.tar.gz", "a.pdf", "a.bin"]) func `A page is no file of that name`(
      name: String
    ) {
      #expect(
        verdict(200, html + ["Content-Length": "12"], FileAnswer.Question(name: name)).hasPrefix(
          "failed for now: the server sent a web page"))
      #expect(
        verdict(200, ["Content-Type": "application/xhtml+xml"], FileAnswer.Question(name: name)).hasPrefix(
          "failed for now")
      )
      #expect(
        verdict(200, ["Content-Type": "text/plain", "Content-Length": "12"], FileAnswer.Question(name: name))
          == "body 0-12"
      )
    }

    @Test(arguments: ["a", "a.html", "a.php", "a.org", "v1.2", "", "download"]) func `It may be one of that name`(
      name: String
    ) {
      #expect(verdict(200, html + ["Content-Length": "12"], FileAnswer.Question(name: name)) == "body 0-12")
    }

    @Test func `A page that is sent as a file is a file`() {
      let headers = html + ["Content-Length": "12", "Content-Disposition": "attachment; filename=a.zip"]
      #expect(verdict(200, headers, FileAnswer.Question(name: "a.zip")) == "body 0-12")
    }

    @Test func `A page does not take the place of what has begun to come, unless that is one`() {
      var question = FileAnswer.Question(known: FileVersion(total: 1000), hasPart: true, name: "a")
      #expect(verdict(200, html + ["Content-Length": "12"], question).hasPrefix("failed for now"))
      #expect(verdict(200, html + ["Transfer-Encoding": "chunked"], question).hasPrefix("failed for now"))
      #expect(
        verdict(200, html + ["Content-Length": "12", "Content-Encoding": "br"], question).hasPrefix("failed for now"))
      #expect(verdict(200, html + ["Content-Length": "1000"], question) == "body 0-1000", "it has the file's length")
      #expect(verdict(200, ["Content-Length": "12"], question) == "body 0-12")
      question.known.isPage = true
      #expect(verdict(200, html + ["Content-Length": "12"], question) == "body 0-12")
    }

    @Test func `What comes as a page is known as one`() {
      for (headers, isPage) in [(html, true), (["Content-Type": "text/plain"], nil)] as [(HTTPHeaders, Bool?)] {
        let answer = FileAnswer(status: 200, headers: headers + ["Content-Length": "12"], version: .http1_1)
        guard case .body(_, _, let version) = answer.verdict(on: FileAnswer.Question()) else {
          Issue.record("no body")
          return
        }
        #expect(version.isPage == isPage)
      }
    }

    @Test(arguments: [
      ("bytes 0-9/10", "body 0-10"), ("bytes 0-8/10", "failed for now: the server answered 206"),
      ("bytes 1-9/10", "failed for now: the server answered 206"),
      ("bytes 0-9/*", "failed for now: the server answered 206"), ("", "failed for now: the server answered 206"),
      ("bytes 0-9223372036854775807/10", "failed for now: the server answered 206"),
      ("bytes 0-9223372036854775807/-9223372036854775808", "failed for now: the server answered 206"),
      ("bytes 0-9/-9223372036854775808", "failed for now: the server answered 206"),
    ]) func `A part that nobody asked for is the file if it is all of it`(range: String, expected: String) {
      #expect(verdict(206, ["Content-Range": range, "Content-Length": "10"]).hasPrefix(expected))
    }

    @Test(arguments: [
      ("bytes 100-999/1000", "900", "ask for all"), ("bytes 100-999/*", "900", "ask for all"),
      ("bytes 0-99/1000", "100", "ask for all"), ("bytes 0-99/*", "100", "ask for all"),
      ("bytes 0-999/1000", "1000", "body 0-1000"),
      ("bytes */1000", "1000", "body 0-1000"), ("all of it", "1000", "body 0-1000"),
      ("bytes 0-999/1000", "500", "ask for all"),
    ]) func `A part that comes with the status of a whole file is no whole file`(
      range: String, length: String, expected: String
    ) {
      let headers: HTTPHeaders = ["Content-Range": range, "Content-Length": length, "ETag": "\"a\""]
      for question in [resuming, FileAnswer.Question()] { #expect(verdict(200, headers, question) == expected) }
    }

    @Test func `A range of all bytes tells where the file ends, where nothing else does`() {
      let headers: HTTPHeaders = ["Content-Range": "bytes 0-99/100", "Transfer-Encoding": "chunked"]
      for status in [200, 206] { #expect(verdict(status, headers) == "body 0-100") }
      #expect(
        verdict(206, ["Content-Range": "bytes */0", "Transfer-Encoding": "chunked"]).hasPrefix("failed for now"))
    }

    @Test func `A whole file of a version that is known has the length that is known`() {
      let same: HTTPHeaders = ["ETag": "\"a\""]
      #expect(verdict(200, same + ["Content-Length": "10"], resuming).hasPrefix("failed for now: the server says"))
      #expect(verdict(200, same + ["Content-Length": "1000"], resuming) == "body 0-1000")
      #expect(verdict(200, same + ["Transfer-Encoding": "chunked"], resuming) == "body 0-?")
      #expect(verdict(200, ["ETag": "\"b\"", "Content-Length": "10"], resuming) == "body 0-10")
      var question = resuming
      question.here = 10
      #expect(verdict(200, same + ["Content-Length": "10"], question) == "body 0-10", "what came ends there")
      #expect(verdict(200, same + ["Content-Length": "11"], question).hasPrefix("failed for now: the server says"))
      question.size = 11
      #expect(verdict(200, same + ["Content-Length": "11"], question) == "body 0-11", "somebody knows it")
      question = resuming
      question.known.entityTag = "W/\"a\""
      #expect(verdict(200, ["ETag": "W/\"a\"", "Content-Length": "10"], question) == "body 0-10")
    }

    @Test func `A tag of another place names no version of this file`() {
      var question = resuming
      question.known.place = "http://a/file"
      for (place, said) in [("http://a/file", "failed for now: "), ("http://b/file", "body 0-10")] {
        var answer = FileAnswer(status: 200, headers: ["ETag": "\"a\"", "Content-Length": "10"], version: .http1_1)
        answer.place = place
        #expect(answer.verdict(on: question).inShort.hasPrefix(said))
      }
    }

    /// What the rest of a file may be asked for by.
    private static let known = [
      FileVersion(total: 1000, entityTag: "\"a\""), FileVersion(total: 1000, lastModified: "then"),
    ]

    @Test(arguments: known)
    func `Nothing in place of the rest of a file that can be gone on from is not the file`(known: FileVersion) {
      var resuming = resuming
      resuming.known = known
      #expect(verdict(200, ["Content-Length": "0"], resuming).hasPrefix("failed for now: the server sent nothing"))
      #expect(verdict(200, ["Content-Length": "0", "ETag": "\"b\""], resuming) == "body 0-0")
      #expect(
        verdict(200, ["Content-Length": "1", "Last-Modified": "Mon, 05 Jan 2026 10:20:30 GMT"], resuming) == "body 0-1")
      var weak = resuming
      weak.known = FileVersion(total: 1000, entityTag: "W/\"a\"")
      #expect(verdict(200, ["Content-Length": "0"], weak) == "body 0-0")
    }

    @Test(arguments: known)
    func `What says nothing of its version is not the file if it is shorter than what is here, or of another type`(
      known: FileVersion
    ) {
      var resuming = resuming
      resuming.known = known
      let other = "failed for now: the server sent"
      #expect(verdict(200, ["Content-Length": "99"], resuming).hasPrefix("\(other) 99 bytes in place of the rest"))
      #expect(verdict(200, ["Content-Length": "100"], resuming) == "body 0-100")
      var typed = resuming
      typed.known.type = "application/zip"
      let text: HTTPHeaders = ["Content-Type": "text/plain; charset=utf-8"]
      #expect(verdict(200, text + ["Content-Length": "1000"], typed).hasPrefix("\(other) 1000 bytes of text/plain"))
      #expect(
        verdict(200, text + ["Transfer-Encoding": "chunked"], typed).hasPrefix("\(other) something of text/plain"))
      #expect(verdict(200, ["Content-Type": "Application/Zip", "Content-Length": "1000"], typed) == "body 0-1000")
      #expect(
        verdict(200, text + ["Content-Length": "9", "ETag": "\"b\""], typed) == "body 0-9", "it is another version")
      (typed.known.entityTag, typed.known.lastModified) = (nil, nil)
      #expect(verdict(200, text + ["Content-Length": "9"], typed) == "body 0-9")
    }

    @Test(arguments: known, [false, true])
    func `A length that is told by its end alone is judged like one that the head tells`(
      known: FileVersion, isPacked: Bool
    ) {
      // For a packed body all was asked for.
      var question = isPacked ? FileAnswer.Question(here: 100, decodes: true) : resuming
      question.known = known
      var head: HTTPHeaders = ["Transfer-Encoding": "chunked"]
      if isPacked { head.add(name: "Content-Encoding", value: "gzip") }
      func said(_ length: Int64, _ version: HTTPHeaders = [:]) -> String {
        var answer = FileAnswer(status: 200, headers: head + version, version: .http1_1)
        answer.length = length
        return answer.verdict(on: question).inShort
      }
      #expect(said(0).hasPrefix("failed for now: the server sent nothing"))
      #expect(said(99).hasPrefix("failed for now: the server sent 99 bytes in place of the rest"))
      #expect(said(99, ["ETag": "W/\"b\""]).hasPrefix("failed for now: the server sent 99 bytes"))
      #expect(said(100) == "body 0-100")
      #expect(said(99, ["ETag": "\"b\""]) == "body 0-99", "another version")
      #expect(said(999, ["ETag": "\"a\""]).hasPrefix("failed for now: the server says") == known.hasStrongTag)
      #expect(said(1000, ["ETag": "\"a\""]) == "body 0-1000")
    }

    @Test func `What is packed by itself is judged by the length that its head tells`() {
      var question = resuming
      question.name = "a.tar.gz"
      let words: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Length": "33"]
      #expect(verdict(200, words, question).hasPrefix("failed for now: the server sent 33 bytes in place of the rest"))
      #expect(verdict(200, words, FileAnswer.Question(name: "a.tar.gz")) == "body 0-33")
    }

    @Test func `What was altered on the way is the file by none of its marks`() {
      for mark: HTTPHeaders in [
        ["ETag": "\"a\""], ["ETag": "\"b\""], ["Last-Modified": "Sat, 01 Jan 2022 00:00:00 GMT"],
      ] {
        for length in ["13", "999"] {
          let said = verdict(203, mark + ["Content-Length": length], resuming)
          #expect(said.hasPrefix("failed for now: the server sent \(length) bytes in place of the rest"), "\(said)")
        }
      }
      #expect(verdict(203, ["Content-Length": "1000"], resuming) == "body 0-1000")
    }

    @Test(arguments: [nil, "W/\"a\""])
    func `A file of the known date whose strong tag was lost on the way has the known length`(tag: String?) {
      let date = "Sat, 01 Jan 2022 00:00:00 GMT"
      var question = resuming
      question.known.lastModified = date
      var head: HTTPHeaders = ["Last-Modified": date]
      if let tag { head.add(name: "ETag", value: tag) }
      #expect(verdict(200, head + ["Content-Length": "999"], question).hasPrefix("failed for now: the server says"))
      #expect(verdict(200, head + ["Content-Length": "1000"], question) == "body 0-1000")
      head.replaceOrAdd(name: "Last-Modified", value: "Sun, 02 Jan 2022 00:00:00 GMT")
      #expect(verdict(200, head + ["Content-Length": "999"], question) == "body 0-999", "another version")
    }

    @Test func `An answer without an end in place of the rest of a file of a known length is one for now`() {
      let bare = FileAnswer(status: 200, headers: [:], version: .http1_1)
      #expect(
        bare.verdict(on: resuming).inShort.hasPrefix("failed for now: the server doesn't say where the file ends"))
      #expect(bare.verdict(on: FileAnswer.Question()).inShort.hasPrefix("failed: the server doesn't say"))
    }

    @Test func `Beyond the end, all is here if the total says so`() {
      var question = resuming
      question.offset = 1000
      let said: HTTPHeaders = ["Content-Range": "bytes */1000"]
      #expect(verdict(416, said + ["ETag": "\"a\""], question) == "complete")
      #expect(verdict(416, said, question) == "ask for the last byte", "it names no version")
      #expect(verdict(416, ["Content-Range": "bytes */900"], question) == "ask for all")
      #expect(verdict(416, said + ["ETag": "\"a\"", "Content-Range": "bytes */900"], question) == "ask for all")
      #expect(verdict(416, ["Content-Range": "bytes */100"], resuming) == "ask for all", "half of it is not all")
      #expect(verdict(416, [:], question) == "ask for all")
      #expect(verdict(416, ["Content-Range": "bytes */1000", "ETag": "\"b\""], question) == "ask for all")
      #expect(verdict(416, [:]).hasPrefix("failed: the server answered 416"))
      question.known = FileVersion(total: 1000)
      question.hasChecksum = true
      #expect(verdict(416, said, question) == "complete", "the checksum decides")
    }

    @Test func `A size that is not the wanted one is told before the file comes`() {
      let question = FileAnswer.Question(size: 1000)
      #expect(verdict(200, ["Content-Length": "1000"], question) == "body 0-1000")
      #expect(verdict(200, ["Content-Length": "12"], question) == "failed: the server's file has 12 bytes, not 1000")
      let page: HTTPHeaders = ["Content-Length": "12", "Content-Type": "text/html; charset=utf-8"]
      #expect(verdict(200, page, question).hasPrefix("failed for now: the server sent a web page"))
    }

    @Test
    func `Another size than the wanted one may pass where a part is here, or where words come in place of a file`() {
      let length: HTTPHeaders = ["Content-Length": "12"]
      let words = "failed for now: the server's file has 12 bytes, not 1000"
      #expect(verdict(200, length, FileAnswer.Question(size: 1000, hasPart: true)) == words)
      for type in ["text/plain; charset=utf-8", "application/json", "application/problem+json", "text/xml"] {
        for (name, mayPass) in [("a.iso", true), ("a", true), ("v1.2", true), ("a.txt", false), ("a.json", false)] {
          let said = verdict(200, length + ["Content-Type": type], FileAnswer.Question(size: 1000, name: name))
          #expect(said.hasPrefix("failed for now: ") == mayPass, "\(type) for \(name): \(said)")
        }
      }
      #expect(
        verdict(200, length + ["Content-Type": "application/zip"], FileAnswer.Question(size: 1000, name: "a.iso"))
          == "failed: the server's file has 12 bytes, not 1000")
    }

    @Test(arguments: ["application/json", "application/problem+json; charset=utf-8", "text/xml", "application/xml"])
    func `A message for programs is no file of a name that says that it is none`(type: String) {
      let headers: HTTPHeaders = ["Content-Type": type, "Content-Length": "12"]
      let words = "failed for now: the server sent \(type.prefix { $0 != ";" }) in place of the file"
      for name in ["a.iso", "a.tar.gz", "a.mp4"] {
        #expect(verdict(200, headers, FileAnswer.Question(name: name)).hasPrefix(words))
        #expect(verdict(200, headers, FileAnswer.Question(size: 12, name: name)) == "body 0-12")
        let attachment = headers + ["Content-Disposition": "attachment; filename=a.zip"]
        #expect(verdict(200, attachment, FileAnswer.Question(name: name)) == "body 0-12")
      }
      for name in ["a", "a.json", "a.svg", "a.dat", "a.csv", "a.xml", "v1.2", "download"] {
        #expect(verdict(200, headers, FileAnswer.Question(name: name)) == "body 0-12")
      }
    }

    @Test func `An encoded body is asked for again, decoded, unless the file is packed by its own name`() {
      #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": "gzip"]) == "ask decoded")
      #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": "identity"]) == "body 0-9")
      for same in ["x-gzip", "identity, GZIP", "aws-chunked,gzip", "gzip, utf-8"] {
        #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": same]) == "ask decoded")
      }
      #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": "gzip, gzip"]).contains("'gzip, gzip'"))
      let packed = FileAnswer.Question(name: "a.tar.gz")
      #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": "x-gzip"], packed) == "body 0-9")
      let decoding = FileAnswer.Question(decodes: true)
      #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": "gzip"], decoding) == "body 0-?")
      #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": "br"]).hasPrefix("failed: "))
      #expect(verdict(200, ["Content-Length": "9", "Content-Encoding": "br"], decoding).contains("'br'"))
    }

    @Test(
      arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", false), ("Sun, 06 Nov 1994 08:49:38 GMT", true),
        ("Sun, 06 Nov 1994 08:49:00 GMT", false), (nil, false), ("yesterday", false),
      ] as [(String?, Bool)])
    func `A date of the second in which the answer was made, or of an answer without a date, tells no versions apart`(
      date: String?, isValidator: Bool
    ) {
      var headers: HTTPHeaders = ["Content-Length": "9", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
      if let date { headers.add(name: "Date", value: date) }
      let answer = FileAnswer(status: 200, headers: headers, version: .http1_1)
      guard case .body(_, _, let version) = answer.verdict(on: FileAnswer.Question()) else {
        Issue.record("no body")
        return
      }
      #expect((version.validator != nil) == isValidator)
    }

    @Test(
      arguments: [
        (["ETag": ""], nil), (["ETag": " "], nil),
        (["ETag": "", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], "Sun, 06 Nov 1994 08:49:37 GMT"),
        (["ETag": "\"a\"", "etag": "\"a\""], "\"a\""), (["ETag": "\"a\"", "etag": "\"b\""], nil),
        (["Last-Modified": ""], nil), (["Last-Modified": "yesterday"], nil),
        (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "last-modified": "Sat, 05 Nov 1994 08:49:37 GMT"], nil),
      ] as [(HTTPHeaders, String?)])
    func `A mark of a version that is empty, or is two, is none`(headers: HTTPHeaders, validator: String?) {
      let headers = headers + ["Content-Length": "9", "Date": "Mon, 07 Nov 1994 08:49:37 GMT"]
      let answer = FileAnswer(status: 200, headers: headers, version: .http1_1)
      guard case .body(_, _, let version) = answer.verdict(on: FileAnswer.Question()) else {
        Issue.record("no body")
        return
      }
      #expect(version.validator == validator)
    }

    @Test func `A part with two different tags is of no version that is known`() {
      let headers: HTTPHeaders = ["Content-Range": "bytes 100-999/1000", "ETag": "\"a\""]
      #expect(verdict(206, headers + ["ETag": "\"b\""], resuming) == "ask for all")
      #expect(verdict(206, headers + ["ETag": "\"a\""], resuming) == "body 100-1000")
    }

    @Test(arguments: [400, 401, 403, 404, 405, 410, 451, 204, 304, 501, 505]) func `These stay as they are`(status: Int)
    {
      #expect(verdict(status, [:]).hasPrefix("failed: the server answered \(status)"))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599]) func `These may pass`(status: Int) {
      #expect(verdict(status, [:]).hasPrefix("failed for now: the server answered \(status)"))
    }

    @Test func `Whoever says when to come again may be asked again, and what leads nowhere may not`() {
      for status in [403, 404, 503] {
        #expect(verdict(status, ["Retry-After": "5"]).hasPrefix("failed for now: the server answered \(status)"))
      }
      #expect(verdict(501, ["Retry-After": "5"]).hasPrefix("failed: "))
      for headers in [[:], ["Location": ""]] as [HTTPHeaders] {
        #expect(verdict(302, headers) == "failed: the server redirects (302) without saying where to")
      }
      #expect(FileAnswer(status: 302, headers: ["Location": "/a"], version: .http1_1).redirect == "/a")
      #expect(FileAnswer(status: 200, headers: ["Location": "/a"], version: .http1_1).redirect == nil)
    }

    @Test func `What may be resumed from is a strong tag, or a date`() {
      #expect(FileVersion(entityTag: "\"a\"", lastModified: "then").validator == "\"a\"")
      #expect(FileVersion(lastModified: "then").validator == "then")
      #expect(FileVersion(entityTag: "W/\"a\"", lastModified: "then").validator == nil)
      #expect(FileVersion(lastModified: "then", wasJustModified: true).validator == nil)
      #expect(FileVersion(entityTag: "W/\"a\"").validator == nil)
      #expect(FileVersion(total: 5).validator == nil)
      // What some servers write in place of a weak tag, of none, and of no time.
      #expect(FileVersion(entityTag: "w/\"a\"").validator == nil)
      #expect(FileVersion(entityTag: "\"\"", lastModified: "then").validator == nil)
      for date in ["Thu, 01 Jan 1970 00:00:01 GMT", "Tue, 01 Jan 1980 00:00:00 GMT"] {
        #expect(FileVersion(lastModified: date).validator == nil)
      }
      let date = "Mon, 05 Jan 2026 10:20:30 GMT"
      #expect(FileVersion(lastModified: date).validator == date)
    }
  }

  extension HTTPHeaders {
    fileprivate static func + (headers: HTTPHeaders, others: HTTPHeaders) -> HTTPHeaders {
      var headers = headers
      headers.add(contentsOf: others)
      return headers
    }
  }

  extension FileAnswer.Verdict {
    fileprivate var inShort: String {
      switch self {
      case .body(let from, let until, _): "body \(from)-\(until.map { "\($0)" } ?? "?")"
      case .complete: "complete"
      case .askForLastByte: "ask for the last byte"
      case .askForAll: "ask for all"
      case .askDecoded: "ask decoded"
      case .askAsSent: "ask as sent"
      case .failed(let error): "failed: \(error)"
      case .failedForNow(let error, _): "failed for now: \(error)"
      }
    }
  }
#endif
