#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation
  import Testing

  @testable import durable

  @Suite("What one types of a download")
  struct GetWordsTests {
    @Test(
      "URLs that can be fetched",
      arguments: [
        "https://example.org/x", "http://127.0.0.1:8080/a%20b", "HTTPS://example.org", "http://[::1]:80/x",
        "https://user:secret@example.org/x?y=z#part", "https://example.org/漢字",
      ])
    func urls(text: String) throws { _ = try DownloadWords.url(text) }

    @Test(
      "what is no URL to be fetched says what to do",
      arguments: [
        ("", "empty"), ("example.org/x", "write https://example.org/x"),
        ("localhost:8080/x", "https://localhost:8080/x"),
        ("//example.org/x", "write https://example.org/x"), ("ftp://example.org/x", "not ftp"),
        ("mailto:me@example.org", "only URLs with http"), ("https:///x", "host is missing"),
        ("https://:80/x", "host is missing"), ("https://me@/x", "host is missing"), ("https://a b/x", "write %20"),
        ("https://example.org/a\tb", "write %20"), ("https://example.org/\u{1b}[2J", "control characters"),
        ("https://example.org:99999/x", "65535"),
      ])
    func noURLs(text: String, words: String) {
      let error = #expect(throws: ValidationError.self) { try DownloadWords.url(text) }
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test("what is wrong with a URL is told without its user and password")
    func secretURLs() {
      for text in [
        "https://me:se?cret@/x", "https://me:secret@example.org/a b", "ftp://me:secret@example.org/x",
        "me:secret@example.org/x", "https://me:secret@example.org:99999/x", "https://me:hidden/secret@example.org/x",
        "https://me:secret@example.org/\u{1b}", "https://me:secret@:80/x", "http://me:secret?x@example.org/x",
        "http://me:se?secret@example.org/x", "me:secret?x@example.org", "http://[?a=b@c&secret",
      ] {
        let error = #expect(throws: ValidationError.self) { try DownloadWords.url(text) }
        #expect(error?.message.contains("secret") == false, "\(error?.message ?? "")")
      }
    }

    @Test("headers, with and without a space after the colon")
    func headers() throws {
      #expect(try DownloadWords.headers("Accept: text/plain") == [Download.Header("Accept", "text/plain")])
      #expect(try DownloadWords.headers("X-A:b: c ") == [Download.Header("X-A", "b: c")])
      #expect(try DownloadWords.headers("X-Empty:") == [Download.Header("X-Empty", "")])
    }

    @Test(
      "what is no header is refused, and its value not told",
      arguments: [
        "Secret", ": secret", "A b: secret", "A: b\r\nC: secret", "A\n: secret", "A: \u{7}secret", "Ä: secret",
      ])
    func noHeaders(text: String) {
      let error = #expect(throws: ValidationError.self) { try DownloadWords.headers(text) }
      #expect(error?.message.lowercased().contains("secret") == false)
    }

    @Test(
      "speeds",
      arguments: [("800", 800), ("1K", 1000), ("1.5m", 1_500_000), ("2G", 2_000_000_000)] as [(String, Int64)])
    func speeds(text: String, bytes: Int64) throws { #expect(try DownloadWords.speed(text) == bytes) }

    @Test("what is no speed", arguments: ["", "K", "0", "-1", "1T", "1KB", "1e3", "∞", "0.1"])
    func noSpeeds(text: String) { #expect(throws: ValidationError.self) { try DownloadWords.speed(text) } }

    @Test("a list: comments and empty lines say nothing, a broken line is told by its number")
    func list() throws {
      let text = "\u{feff}# mine\r\nhttps://a.example/1\r\n\n  https://a.example/2  \nnonsense\n#\nftp://a.example/3\n"
      var data = Data(text.utf8)
      data.append(contentsOf: [0xff, 0x0a])
      data.append(contentsOf: Data("https://a.example/4".utf8))
      let list = DownloadList(try TextLines(data, name: "list.txt", "-i list.txt"))
      #expect(
        list.urls.map(\.url.absoluteString) == ["https://a.example/1", "https://a.example/2", "https://a.example/4"])
      #expect(
        list.broken.map { $0.prefix { $0 != " " } } == ["list.txt:5:", "list.txt:7:", "list.txt:8:"], "\(list.broken)")
    }

    @Test("a list has options of each URL in indented lines below it")
    func options() throws {
      let sum = String(repeating: "ab", count: 32)
      let text =
        "https://a.example/1\n  out=one.bin\n\tchecksum=sha-256=\(sum)\n  header=X-A: 1\n  header=X-B: 2\n"
        + "https://a.example/2\n  dir=there\n size=7\n"
      let list = DownloadList(try TextLines(Data(text.utf8), name: "l", "-i l"))
      #expect(list.broken == [])
      let first = try #require(list.urls.first)
      #expect((first.name, first.sha256, first.folder) == ("one.bin", sum, nil))
      #expect(first.headers.map(\.name) == ["X-A", "X-B"])
      #expect((list.urls.last?.folder, list.urls.last?.size) == ("there", 7))
    }

    @Test("what is wrong with an option is told by its line, and those of a broken URL are left aside")
    func brokenOptions() throws {
      let text = "  out=a\nhttps://a.example/1\n  out=a/b\n  checksum=md5=1\n  frob=1\nnonsense\n  out=x\n"
      let list = DownloadList(try TextLines(Data(text.utf8), name: "l", "-i l"))
      #expect(
        list.broken.map { $0.prefix { $0 != " " } } == ["l:1:", "l:3:", "l:4:", "l:5:", "l:6:"], "\(list.broken)")
      #expect(list.urls.count == 1)
    }

    @Test(
      "of an option that is not indented its name is told, and not what it says",
      arguments: [
        "header=Authorization: Bearer s3cret", "out=s3cret", "dir=s3cret", "checksum=s3cret", "size=s3cret",
      ])
    func unindented(line: String) throws {
      let list = DownloadList(try TextLines(Data("https://a.example/1\n\(line)\n".utf8), name: "l", "-i l"))
      #expect(list.urls.count == 1)
      #expect(list.broken.count == 1)
      #expect(list.broken.first?.hasPrefix("l:2: \(line.prefix { $0 != "=" })= is an option") == true)
      #expect(list.broken.first?.contains("s3cret") == false, "\(list.broken)")
    }

    @Test("a line without an end is told by its number, and not waited for")
    func endlessLine() async throws {
      let durable = try Durable()
      let outcome = try await durable.shell("ulimit -v 4000000; exec \"$DURABLE\" get -i /dev/zero")
      #expect(outcome.status == .exited(2))
      #expect(outcome.stderr.contains("/dev/zero:1: this line has more than 131072 bytes"), "\(outcome.stderr)")
      let long = "(echo http://a.example; yes | head -c 400000 | tr -d '\\n'; echo)"
      let second = try await durable.shell("\(long) | \"$DURABLE\" get -i -")
      #expect(second.status == .exited(2))
      #expect(second.stderr.contains("standard input:2: this line has more"), "\(second.stderr)")
    }

    @Test("no file is larger than 2^60 bytes")
    func hugeSizes() throws {
      let text = "https://a.example/1\n  size=1152921504606846976\n https://a.example/2\n  size=1152921504606846977\n"
      let list = DownloadList(try TextLines(Data(text.utf8), name: "l", "-i l"))
      #expect(list.broken == ["l:4: size: no file has 1152921504606846977 bytes"])
    }

    @Test("checksums are read as sha256sum writes them")
    func checksums() throws {
      let (one, two) = (String(repeating: "1", count: 64), String(repeating: "A", count: 64))
      let list = try ChecksumList(TextLines(Data("\(one)  ./x/a.bin\n\(two) *b.bin\n".utf8), name: "l", "s"))
      let url = try #require(URL(string: "https://a.example/1"))
      #expect(try list.sum(of: "a.bin", at: url) == one)
      #expect(try list.sum(of: "b.bin", at: url) == two.lowercased())
      #expect(throws: ValidationError.self) { try list.sum(of: "c.bin", at: url) }
      #expect(throws: ValidationError.self) { try ChecksumList(TextLines(Data("nonsense".utf8), name: "l", "s")) }
    }

    @Test("a list that may have no end is given up, however short its lines are")
    func endless() throws {
      let durable = try Durable()
      let path = durable.folder + "/list.txt"
      try Data(String(repeating: "https://a.example/1\n", count: 50).utf8).write(to: URL(filePath: path))
      #expect(try DownloadList(TextLines(of: path, "-i", most: 1000)).urls.count == 50)
      let error = #expect(throws: ValidationError.self) { try TextLines(of: path, "-i", most: 999) }
      #expect(error?.message == "\(path): this has more than 999 bytes")
    }

    @Test("a list in UTF-16 is refused as such", arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
    func utf16(encoding: String.Encoding) throws {
      let text = try #require("\u{feff}https://a.example/1\n".data(using: encoding))
      let error = #expect(throws: ValidationError.self) { try TextLines(text, name: "list.txt", "-i list.txt") }
      #expect(error?.message.contains("UTF-16") == true)
    }

    @Test("a download is shown as one would type it again, without what may be a secret")
    func typed() throws {
      let download = Download(
        from: try DownloadWords.url("https://me:secret@example.org/a?b=c"), to: URL(fileURLWithPath: "/tmp/my files"),
        named: "it's.iso", size: 5, headers: [Download.Header("A", "secret")], overwrites: true)
      #expect(
        download.withoutSecrets.typed
          == #"durable get 'https://me:***@example.org/a?b=c' -o '/tmp/my files' -O 'it'\''s.iso' --size 5 --header 'A: ***' --overwrite"#
      )
      #expect(download.title(in: "/tmp") == #"get -o 'my files' -O 'it'\''s.iso' https://example.org/a?b=c"#)
    }

    @Test(
      "in a list, a download tells its folder to who is elsewhere, and a name of its own, neither at length",
      arguments: [
        ("/home/me", nil, "get https://example.org/a"), ("/home/me/iso", nil, "get -o iso https://example.org/a"),
        ("/home/men", "a", "get -o /home/men https://example.org/a"),
        ("/srv/0123456789/0123456789/b", "c", "get -o '…0123456789/0123456789/b' -O c https://example.org/a"),
      ] as [(String, String?, String)])
    func titles(folder: String, name: String?, title: String) throws {
      let download = Download(
        from: try DownloadWords.url("https://example.org/a"), to: URL(fileURLWithPath: folder), named: name)
      #expect(download.title(in: "/home/me") == title)
    }

    @Test(
      "what to type to go on has no passwords and no headers, and says so",
      arguments: [
        (
          ["get", "-o", "my files", "https://a.example/x"], "Go on with: durable get -o 'my files' https://a.example/x"
        ),
        (
          ["get", "https://me:secret@a.example/x", "-O", "a@b"],
          "Go on with: durable get https://a.example/x -O a@b (and the password again, not shown here)"
        ),
        (
          ["get", "-H", "A: secret", "--header", "B: secret", "--header=C: secret", "-H=D: secret", "-i", "l"],
          "Go on with: durable get -i l (and the headers again, not shown here)"
        ),
        (
          ["get", "-H", "@-", "--", "https://secret@a.example/-H", "-H"],
          "Go on with: durable get -- https://a.example/-H -H (and the password and the headers again, not shown here)"
        ),
        (["get", "-H", "@h", "--header=@h", "x"], "Go on with: durable get -H @h --header=@h x"),
        (
          ["get", "-H@h", "-HA: secret", "x"], "Go on with: durable get -H@h x (and the headers again, not shown here)"
        ),
        (
          ["get", "--store", "postgres://jobs@db/app", "https://a.example/x"],
          "Go on with: durable get --store postgres://jobs@db/app https://a.example/x"
        ),
        (
          ["get", "--store=postgres://jobs:hush@db/app?sslmode=require", "https://a.example/x"],
          "Go on with: durable get '--store=postgres://jobs@db/app?sslmode=require' https://a.example/x "
            + "(and the password again, not shown here)"
        ),
        (
          ["get", "--store", "host=db user=jobs password='hu sh' dbname=app", "https://a.example/x"],
          "Go on with: durable get --store 'host=db user=jobs dbname=app' https://a.example/x "
            + "(and the password again, not shown here)"
        ),
        (
          ["get", "--store=postgres://jobs@db/app?password=hush", "-H@h", "x"],
          "Go on with: durable get --store=postgres://jobs@db/app -H@h x (and the password again, not shown here)"
        ),
        (
          ["get", "--store", "connect_timeout=5 host=db password=hush dbname=app", "x"],
          "Go on with: durable get --store 'connect_timeout=5 host=db dbname=app' x (and the password again, not shown here)"
        ),
        (["get", "--store", "my jobs", "x"], "Go on with: durable get --store 'my jobs' x"),
        (["get", String(repeating: "x", count: 600)], "Go on with the same command, or with: durable work --store s"),
      ] as [([String], String)])
    func again(arguments: [String], hint: String) {
      #expect(CommandToRepeat(arguments.map { SystemText($0) }).hint(or: "durable work --store s") == hint)
    }

    @Test(
      "a header may follow its letter at once, and a body may begin like one",
      arguments: [
        (["get", "-HA: b", "x"], ["get", "-H", "A: b", "x"]),
        (["send", "POST", "x", "-d", "-Hello", "-HA: b"], ["send", "POST", "x", "-d", "-Hello", "-H", "A: b"]),
        (["send", "POST", "x", "--json-body", "-H1"], ["send", "POST", "x", "--json-body", "-H1"]),
        (["send", "POST", "x", "--data", "-H1", "-H", "-H2"], ["send", "POST", "x", "--data", "-H1", "-H", "-H2"]),
        (["send", "POST", "x", "-d", "-", "-H1: 2"], ["send", "POST", "x", "-d", "-", "-H", "1: 2"]),
        (["get", "--", "-HA: b"], ["get", "--", "-HA: b"]), (["add", "-HA: b"], ["add", "-HA: b"]),
      ])
    func headers(words: [String], parted: [String]) { #expect(GetCommand.partingHeaders(words) == parted) }

    @Test("amounts are in powers of ten, with one decimal below a hundred")
    func amounts() {
      #expect(
        [0, 512, 999, 1000, 12_345, 99_949, 99_960, 999_499, 999_600, 4_200_000, 2_000_000_000].map {
          Int64($0).asBytes
        }
          == [
            "0 B", "512 B", "999 B", "1.0 kB", "12.3 kB", "99.9 kB", "100 kB", "999 kB", "1.0 MB", "4.2 MB", "2.0 GB",
          ])
      #expect(Int64(45_100_000).asBytes(of: 200_000_000) == "45.1 of 200 MB")
      #expect(Duration.seconds(99.6).roughly == "2 min")
      #expect(Duration.seconds(7300).roughly == "2 h")
      #expect(
        [999, 1100, 36_500, 3_652_000, 3_653_000].map { Duration.seconds($0 * 86400).roughly } == [
          "999 d", "3 y", "100 y", "9999 y", "∞",
        ])
    }

    @Test("widths of characters: wide ones take two columns, marks none")
    func columns() {
      #expect("漢字".columns == 4)
      #expect("e\u{301}".columns == 1)
      #expect("👩‍👩‍👧🇩🇪".columns == 4)
      #expect("हिन्दी".columns <= 4)
      #expect("☂\u{fe0f}".columns == 2)
      #expect("שלום".columns == 4)
    }

    @Test("a name that is too long loses its middle", arguments: 1...12)
    func shortened(width: Int) {
      for name in ["debian-13.2.0-amd64-netinst.iso", "漢字の長い名前のファイル.txt", "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧"] {
        let short = name.shortened(to: width)
        #expect(short.columns <= width)
        #expect(short.contains("…"))
        if width >= 9 { #expect(short.last == name.last) }
      }
      #expect("short".shortened(to: 5) == "short")
    }

    @Test("few files run at once, and many while six small ones come within a second")
    func automaticConcurrency() {
      var automatic = AutomaticConcurrency()
      let small = DownloadedFile(path: "/a", size: 1_000_000, sha256: nil, modified: 0, wasThere: false)
      var large = small
      large.size += 1
      var old = small
      old.wasThere = true
      for _ in 0..<10 {
        automatic.succeeded(large, at: .zero)
        automatic.succeeded(old, at: .zero)
      }
      #expect(automatic.limit(at: .zero) == 6)
      for number in 1...5 { automatic.succeeded(small, at: .milliseconds(number * 100)) }
      #expect(automatic.limit(at: .milliseconds(500)) == 6)
      automatic.succeeded(small, at: .milliseconds(600))
      #expect(automatic.limit(at: .milliseconds(600)) == 32)
      #expect(automatic.limit(at: .milliseconds(1099)) == 32)
      #expect(automatic.limit(at: .milliseconds(1100)) == 6)
      for number in 0..<12 { automatic.succeeded(small, at: .seconds(2) + .milliseconds(number * 210)) }
      #expect(automatic.limit(at: .seconds(2) + .milliseconds(11 * 210)) == 6)
    }
  }
#endif
