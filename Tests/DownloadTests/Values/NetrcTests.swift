#if HTTP
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct NetrcTests {
    @Test func `The user's own file need not be there, and any other must be`() throws {
      let folder = try TestFolder("netrc")
      let path = folder.path(".netrc")
      for home in [folder.url.path, folder.url.path + "/"] { #expect(try Netrc.read(path, home: home) == nil) }
      #expect(throws: DownloadError.self) { try Netrc.read(path, home: "/elsewhere") }
      try folder.write("machine a login kim password word", to: ".netrc")
      #expect(try Netrc.read(path, home: folder.url.path)?.credentials(for: "a", isNamed: true) != nil)
    }

    @Test func `What the system has too little of is for now, and what is wrong with a file is not`() {
      for number in [EMFILE, ENFILE, EIO] { #expect(AttemptFile.failure(number, "/a")?.code == .noRoom) }
      for number in [ENOENT, EACCES, EISDIR] { #expect(AttemptFile.failure(number, "/a") == nil) }
    }

    @Test func `A pipe is refused at once, since nobody may ever write to it`() throws {
      let folder = try TestFolder("netrc")
      #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
      let error = #expect(throws: DownloadError.self) { try Netrc(path: folder.path("pipe")) }
      #expect(error?.code == .invalidDownload)
      #expect(throws: DownloadError.self) { try HeaderFile.headers(folder.path("pipe")) }
      #expect(throws: Never.self) { try Netrc(path: "/dev/null") }
    }

    private func found(_ host: String, in text: String, isNamed: Bool = false) throws -> String? {
      try #require(Netrc(text.utf8)).credentials(for: host, isNamed: isNamed).map {
        String(decoding: $0.user, as: UTF8.self) + ":" + String(decoding: $0.password, as: UTF8.self)
      }
    }

    @Test(arguments: [
      "machine a login kim password word", "machine a\n\tlogin kim\n\tpassword word\n",
      "machine A password word login kim",
      "machine a login kim password word\r\nmachine b login x password y\r\n",
      "machine a account x login kim password word",
      "# machine a login x password y\nmachine a login kim # x\n password word",
      "machine b login x password y machine a login kim password word machine a login z password z",
      "machine \"a\" login \"kim\" password \"word\"", "something else machine a login kim password word",
      "macdef init\nmachine a login x password y\n\nmachine a login kim password word",
      "machine b login x password y macdef m machine a\n  cd /x\n  machine a\n\nmachine a login kim password word",
      "machine a login kim password word default login x password y",
      "default login kim password word machine a login x password y",
    ]) func `A host has the user and the password of its first entry`(text: String) throws {
      #expect(try found("a", in: text) == "kim:word")
    }

    @Test(arguments: [
      "", "machine b login kim password word", "machine aa login x", "machine a", "machine", "login x password y",
    ])
    func `A host without an entry, or with nothing in it, has none`(text: String) throws {
      #expect(try found("a", in: text) == nil)
    }

    @Test func `The entry for all hosts is for those that need not be named`() throws {
      let text = "machine b login b password b default login kim password word"
      #expect(try found("a", in: text) == "kim:word")
      #expect(try found("a", in: text, isNamed: true) == nil)
      #expect(try found("b", in: text, isNamed: true) == "b:b")
      #expect(
        try found("b", in: "default login kim password word machine b login b password b", isNamed: true) == "b:b")
    }

    @Test func `An address of the sixth version may be written with its brackets or without`() throws {
      #expect(try found("[::1]", in: "machine ::1 login kim password word") == "kim:word")
      #expect(try found("[::1]", in: "machine [::1] login kim password word") == "kim:word")
    }

    @Test func `A quoted word may have anything in it`() throws {
      let text = #"machine a login "ki m" password "w\"o\\r\td\n #""#
      #expect(try found("a", in: text) == "ki m:w\"o\\r\td\n #")
    }

    @Test func `A half of it is sent with an empty other half`() throws {
      #expect(try found("a", in: "machine a login kim") == "kim:")
      #expect(try found("a", in: "machine a password word") == ":word")
    }

    @Test(arguments: ["machine a login \"kim", "machine a login \"kim\\", "\""])
    func `A quoted word without an end is an error`(text: String) {
      #expect(Netrc(text.utf8) == nil)
    }
  }
#endif
