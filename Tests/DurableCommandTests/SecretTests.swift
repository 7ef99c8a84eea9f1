#if Shell
  import Foundation
  import LyingServer
  import Testing

  @testable import Console

  @Suite("Secrets")
  struct SecretTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test(
      "what signs a query is hidden, and nothing else of it",
      arguments: [
        (
          "https://b.s3.com/k?X-Amz-Date=7&X-Amz-Signature=ab12&x=1",
          "https://b.s3.com/k?X-Amz-Date=7&X-Amz-Signature=***&x=1"
        ),
        (
          "get https://h/f?X-Amz-Credential=a%2Fb&X-Amz-Security-Token=c next",
          "get https://h/f?X-Amz-Credential=***&X-Amz-Security-Token=*** next"
        ),
        ("https://h/f?sv=1&sig=a%3D", "https://h/f?sv=1&sig=***"), ("'https://h/?token=t'", "'https://h/?token=***'"),
        ("https://u:p@h/f?access_token=t#x", "https://u:***@h/f?access_token=***#x"),
        ("https://h/f?design=1&monkey=2&codec=3", "https://h/f?design=1&monkey=2&codec=3"),
        ("https://h/f?private_token=a&key=b&code=c&page=2", "https://h/f?private_token=***&key=***&code=***&page=2"),
        ("https://h/f?pwd=a&PHPSESSID=b&pin=c&pinned=d", "https://h/f?pwd=***&PHPSESSID=***&pin=***&pinned=d"),
        ("https://h/f#id_token=a", "https://h/f#id_token=***"),
        ("https://h/f?X%2DAmz%2DSecurity%2DToken=a&jwt=b", "https://h/f?X%2DAmz%2DSecurity%2DToken=***&jwt=***"),
        ("a=1&sig=2", "a=1&sig=2"), ("postgres://u:se/cret@h/d", "postgres://u:***@h/d"),
        ("postgres://u:p@ss@h/d x@y", "postgres://u:***@h/d x@y"), ("x://u:a?b#c@d", "x://u:***@d"),
        ("x://h:1,i:2/d?a=b@c", "x://h:1,i:2/d?a=b@c"), ("x://a@b:80/c", "x://***@b:80/c"), ("x://:p@h", "x://:***@h"),
        ("x://u:p@h/?u=y://a:b/c@d", "x://u:***@h/?u=y://a:***@d"), ("'x://u:it's@h", "'x://u:***@h"),
      ])
    func signatures(text: String, shown: String) { #expect(text.withoutPasswords == shown) }

    @Test("a key that is a URL is shown without its password, by show and in JSON")
    func keys() async throws {
      let durable = try Durable()
      let added = try await durable("add", "--key", "https://me:hunter2@host/x", "--", "true")
      #expect(added.status == .exited(0), "\(added.stderr)")
      let shown = try await durable("show", added.line).text
      #expect(shown.contains("https://me:***@host/x") && !shown.contains("hunter2"), "\(shown)")
      let json = try await durable("show", added.line, "--json").json
      #expect(json["key"] as? String == "https://me:***@host/x")
      #expect(
        try await durable("show", added.line, "--json", "--secrets").json["key"] as? String
          == "https://me:hunter2@host/x")
    }

    @Test("a word of a million characters is read once, and not from each of its letters")
    func longWord() {
      let word = String(repeating: "0123456789abcdef", count: 62_500)
      for (begin, end) in [
        ("", " "), (" ", ""), ("https://h/", " "), ("", "@h "), ("https://me:", "#@h "), ("x=", "?"),
      ] {
        let text = "\(begin)\(word)\(end) https://me:pw@host/x"
        let shown = text.withoutPasswords
        #expect(shown.hasSuffix(" https://me:***@host/x"))
      }
    }

    @Test("a word of thousands of URLs is read through once, and an @ of something else hides nothing of them")
    func manyURLs() {
      let word = String(repeating: #"{"u":"https://host","k":"me@x.org"},"#, count: 5_000)
      #expect(word.withoutPasswords == word)
      #expect((word + "https://me:p/w@host/x").withoutPasswords == word + "https://me:***@host/x")
      #expect("https://h:80/a@b http://u:a#b@h".withoutPasswords == "https://h:80/a@b http://u:***@h")
    }

    @Test("an @ and a # of which there are thousands are not looked for from each other")
    func manySigns() {
      let (ats, hashes) = (String(repeating: "@", count: 100_000), String(repeating: "#", count: 100_000))
      #expect("x://u:\(ats)\(hashes)@\(hashes)".withoutPasswords == "x://u:***@\(hashes)")
      let urls = String(repeating: "x://u:p@", count: 50_000)
      #expect(urls.withoutPasswords == String(repeating: "x://u:***@", count: 50_000))
    }

    @Test("options that each have the next one as their value are hidden from the eighth on, however many there are")
    func manyOptions() {
      for option in ["--a=", "-H"] {
        let word = String(repeating: option, count: 100_000)
        #expect(SecretWords.hidden(in: ["p", word + "A:x"]) == ["p", String(repeating: option, count: 8) + "***"])
      }
      #expect("https://h/x?token=abc,def=ghi&b=c".withoutSecretFields == "https://h/x?token=***&b=c")
    }

    @Test(
      "the words of a command are shown without what a name says is a secret, and otherwise as they are",
      arguments: [
        (["curl", "-H", "Authorization: Bearer x", "https://h"], ["curl", "-H", "Authorization: ***", "https://h"]),
        (["curl", "-HX-Api-Key:x"], ["curl", "-HX-Api-Key: ***"]),
        (
          ["curl", "-H", "Accept: text/html", "-H", "Cookie: a=b"],
          ["curl", "-H", "Accept: text/html", "-H", "Cookie: ***"]
        ),
        (
          ["curl", "--proxy-header", "proxy-authorization: x"], ["curl", "--proxy-header", "proxy-authorization: ***"]
        ),
        (["wget", "--header=Private-Token: x", "u"], ["wget", "--header=Private-Token: ***", "u"]),
        (["http", "h", "X-Auth-Token:x", "name=kim"], ["http", "h", "X-Auth-Token: ***", "name=kim"]),
        (["curl", "-u", "me:x", "-U", "me:x"], ["curl", "-u", "me:***", "-U", "me:***"]),
        (["curl", "-sSu", "me:x", "-ume:x"], ["curl", "-sSu", "me:***", "-ume:***"]),
        (
          ["curl", "-siu", "me:x", "-4jZu", "me:x", "-sU", "me:x"],
          ["curl", "-siu", "me:***", "-4jZu", "me:***", "-sU", "me:***"]
        ),
        (["curl", "-siume:x", "-sHCookie: x", "h"], ["curl", "-siume:***", "-sHCookie: ***", "h"]),
        (
          ["wget", "-nH", "--password", "x", "-nu", "--token", "x"],
          ["wget", "-nH", "--password", "***", "-nu", "--token", "***"]
        ),
        (["mount", "-o", "username=me,password=x,vers=3"], ["mount", "-o", "username=me,password=***,vers=3"]),
        (["mount", "-o", "user=me,pass=x,y;z&a,vers=3"], ["mount", "-o", "user=me,pass=***,vers=3"]),
        (["mount", "-o", "user=me,uid=0,ro,pass=x y,rw"], ["mount", "-o", "user=me,uid=0,ro,pass=***"]),
        (["make", "CFLAGS=-g,key=4,foo", "PWD=/x"], ["make", "CFLAGS=-g,key=4,foo", "PWD=/x"]),
        (
          ["sqlcmd", "Server=h;Uid=me;Pwd=x y;", "-d", "a=b&pwd=x"],
          ["sqlcmd", "Server=h;Uid=me;Pwd=***;", "-d", "a=b&pwd=***"]
        ),
        (["sqlcmd", "Server=h;\nPassword=x y;\nUser=me"], ["sqlcmd", "Server=h;\nPassword=***;\nUser=me"]),
        (
          ["helm", "--set", "a=b,db.password=x", "--set=a=b,c.token=x"],
          ["helm", "--set", "a=b,db.password=***", "--set=a=b,c.token=***"]
        ),
        (["sqlcmd", "Server=h;User=me;Password=x;"], ["sqlcmd", "Server=h;User=me;Password=***;"]),
        (["sqlcmd", "Server=h; User Id=me; Password=x y;"], ["sqlcmd", "Server=h; User Id=me; Password=***;"]),
        (
          ["curl", "-d", "a=b;token=x", "-d", "user=x&password=y z x"],
          ["curl", "-d", "a=b;token=***", "-d", "user=x&password=***"]
        ),
        (["printf", #"user: me\npassword: x\n"#], ["printf", #"user: me\npassword: ***\n"#]),
        (["printf", #"user=me\npassword=x\nb=c"#], ["printf", #"user=me\npassword=***\nb=c"#]),
        (["echo", "password:", "x", "token=", "x", "y"], ["echo", "password:", "***", "token=", "***", "y"]),
        (
          ["echo", "Authorization: Bearer x", "Authorization:", "Bearer", "x"],
          ["echo", "Authorization: ***", "Authorization:", "***", "***"]
        ),
        (
          ["psql", "host=h password = x", "token", "=x", "key", "=", "x"],
          ["psql", "host=h password = ***", "token", "=***", "key", "=", "***"]
        ),
        (["psql", "host=h password='x y' user=me"], ["psql", "host=h password=*** user=me"]),
        (["curl", "--user", "me:x:y", "--user=me:x"], ["curl", "--user", "me:***", "--user=me:***"]),
        (
          ["curl", "--oauth2-bearer", "x", "-d", "a=1&client_secret=x"],
          ["curl", "--oauth2-bearer", "***", "-d", "a=1&client_secret=***"]
        ),
        (
          ["p", "--password=x", "--password", "x", "--api-key", "x"],
          ["p", "--password=***", "--password", "***", "--api-key", "***"]
        ),
        (
          ["p", "--password-file", "f", "--password-stdin", "--no-password", "f"],
          ["p", "--password-file", "f", "--password-stdin", "--no-password", "f"]
        ),
        (
          ["env", "PGPASSWORD=x y", "AWS_SECRET_ACCESS_KEY=x", "GH_TOKEN=x", "MYSQL_PWD=x", "A_KEY=x"],
          ["env", "PGPASSWORD=***", "AWS_SECRET_ACCESS_KEY=***", "GH_TOKEN=***", "MYSQL_PWD=***", "A_KEY=***"]
        ),
        (
          ["docker", "run", "-e", "DB_PASSWORD=x", "--env=API_KEY=x"],
          ["docker", "run", "-e", "DB_PASSWORD=***", "--env=API_KEY=***"]
        ),
        (
          ["sh", "-c", "PGPASSWORD=x psql -c 'select 1'; curl -H \"Authorization: x\" h"],
          ["sh", "-c", "PGPASSWORD=*** psql -c 'select 1'; curl -H 'Authorization: ***' h"]
        ),
        (
          ["java", "-Ddb.password=x", "-Dpass=x", "-Dfile=x", "-jar", "a.jar"],
          ["java", "-Ddb.password=***", "-Dpass=***", "-Dfile=x", "-jar", "a.jar"]
        ),
        (
          ["vault", "-token=x", "-password", "x", "/token:x"], ["vault", "-token=***", "-password", "***", "/token:x"]
        ),
        (
          ["p", "-password:x", "-key", "k.pem", "-no-password", "x"],
          ["p", "-password:***", "-key", "k.pem", "-no-password", "x"]
        ),
        (["docker", "run", "-eAPI_TOKEN=x", "-eMODE=x"], ["docker", "run", "-eAPI_TOKEN=***", "-eMODE=x"]),
        (
          ["curl", "--data", #"{"user":"me","password" : "x \" y","n":[{"token":7}]}"#],
          ["curl", "--data", #"{"user":"me","password" : "***","n":[{"token":"***"}]}"#]
        ),
        (
          ["aws", "configure", "set", "aws_secret_access_key", "x"],
          ["aws", "configure", "set", "aws_secret_access_key", "***"]
        ),
        (["nmcli", "connect", "n", "password", "x", "y"], ["nmcli", "connect", "n", "password", "***", "y"]),
        (["npm", "config", "set", "authToken", "x"], ["npm", "config", "set", "authToken", "***"]),
        (["sh", "-c", "cd a; aws set api_key x"], ["sh", "-c", "cd a; aws set api_key ***"]),
        (
          ["rotate-key", "now", "gh", "auth", "login", "kubectl", "get", "secret", "web"],
          ["rotate-key", "now", "gh", "auth", "login", "kubectl", "get", "secret", "web"]
        ),
        (["p", "db_password", "--force", "x_token", ">", "f"], ["p", "db_password", "--force", "x_token", ">", "f"]),
        (["curl", #"-d{"token":{"a":1},"pass":"#], ["curl", #"-d{"token":{"a":1},"pass":"#]),
        (["ssh", "h", "curl -u me:x -H 'Cookie: y' 'a b'"], ["ssh", "h", "curl -u me:*** -H 'Cookie: ***' 'a b'"]),
        (
          ["rsync", "-avu", "backup:photos", "--key=a", "PWD=/x", "monkey=1", "sort:key", "a: b", "x = y"],
          ["rsync", "-avu", "backup:photos", "--key=a", "PWD=/x", "monkey=1", "sort:key", "a: b", "x = y"]
        ),
        (
          ["gzip", "-9kf", "https://h/a?b=c", "it's", "", "-", "--"],
          ["gzip", "-9kf", "https://h/a?b=c", "it's", "", "-", "--"]
        ),
      ])
    func words(typed: [String], shown: [String]) { #expect(SecretWords.hidden(in: typed) == shown) }

    @Test("a line for a shell is shown as it was typed, but for its secrets")
    func line() {
      func shown(_ line: String) -> String { SecretWords.hidden(in: [line], isLine: true)[0] }
      #expect(
        shown("TOKEN=x; export B_TOKEN='y z'  # keep\ncurl -sH $'Authorization: z' \"$(cat f)\" | gzip -9 > \"a b\"")
          == "TOKEN=***; export B_TOKEN=***  # keep\ncurl -sH 'Authorization: ***' \"$(cat f)\" | gzip -9 > \"a b\"")
      #expect(shown("ssh h \"curl --password 'it is' x\"") == "ssh h 'curl --password *** x'")
      #expect(
        shown("cat <<E >f\nuser: me\npassword: x\nE\necho password: \"x y\"")
          == "cat <<E >f\nuser: me\npassword: ***\nE\necho password: ***")
      #expect(
        shown(#"printf "user: me\npassword: x\n" | p --password; q"#)
          == #"printf 'user: me\npassword: ***\n' | p --password; q"#)
      #expect(shown("TOKEN=; cmd && PASS= ; A_KEY=`cat f`") == "TOKEN=; cmd && PASS= ; A_KEY=`cat f`")
      #expect(shown("java -Dx.secret=x -version") == "java -Dx.secret=*** -version")
      #expect(shown(#"curl -d '{"pass":"x"}' h"#) == #"curl -d '{"pass":"***"}' h"#)
      #expect(shown("p --password \\\n  'a b' \\\n f") == "p --password \\\n  *** \\\n f")
      #expect(shown("p --pass\\\nword x\\\ny \\") == "p --pass\\\nword *** \\")
      #expect(shown("TOKEN+=x A+=y export API_KEY+=\"z\"") == "TOKEN+=*** A+=y export API_KEY+=***")
      for line in ["echo \"a: $b\" | tee 'x=y' && \\\nfalse", "unfinished 'quote", "\\", "é ü=ö"] {
        #expect(shown(line) == line)
      }
    }

    @Test("a signed query is in no line of get, status or show, and the file comes")
    func signedDownload() async throws {
      let server = try await LyingServer()
      for path in ["/a.bin", "/a.bin?X-Amz-Signature=hush"] { server.serve(path, .file(Content(1000))) }
      let url = server.url("/a.bin?X-Amz-Signature=hush")
      let got = try await durable("get", "--json", url)
      #expect(got.status == .exited(0), "\(got.stderr)")
      let missing = try await durable("get", server.url("/b.bin?X-Amz-Signature=hush"))
      #expect(missing.status == .exited(1))
      for outcome in [
        got, missing, try await durable("status"), try await durable("show", "1", "--json"),
        try await durable("show", "1"),
      ] {
        #expect(!(outcome.text + outcome.stderr).contains("hush"), "\(outcome.text)\(outcome.stderr)")
      }
      #expect(got.text.contains("X-Amz-Signature=***"))
      #expect(try await durable("show", "1", "--json", "--secrets").text.contains("hush"))
    }

    /// All that the program says of its jobs, in every way.
    private func allThatIsSaid(of id: Int) async throws -> String {
      var said = ""
      for line in [
        ["status"], ["status", "--json"], ["show", "\(id)"], ["show", "\(id)", "--json"], ["log", "\(id)"],
        ["log", "\(id)", "--json"], ["wait", "\(id)", "--timeout", "0"], ["wait", "\(id)", "--json", "--timeout", "0"],
      ] {
        let outcome = try await durable.run(line.map { Array($0.utf8) })
        said += outcome.text + outcome.stderr
      }
      return said
    }

    @Test("what a download has of secrets is shown only to who asks for it")
    func download() async throws {
      let url = "https://me:hunter2@example.org/x?y=z"
      let added = try await durable(
        "get", "--detach", "--json", "--header", "Authorization: Bearer s3cret", "-o", durable.folder, url)
      let id = try #require(try added.json["id"] as? Int)
      let said = try await added.text + added.stderr + allThatIsSaid(of: id)
      #expect(!said.contains("hunter2"), "\(said)")
      #expect(!said.contains("s3cret"), "\(said)")
      #expect(said.contains("https://me:***@example.org/x?y=z"))
      #expect(said.contains("Authorization"))
      let shown = try await durable("show", "\(id)", "--secrets").text
      #expect(shown.contains("durable get 'https://me:hunter2@example.org/x?y=z'"))
      #expect(shown.contains("--header 'Authorization: Bearer s3cret'"))
      let payload = try #require(
        try await durable("show", "\(id)", "--secrets", "--json").json["payload"] as? [String: Any])
      #expect(payload["url"] as? String == url)
      #expect((payload["headers"] as? [[String: String]])?.first?["value"] == "Bearer s3cret")
    }

    @Test("a worker's lines, and why a command can't begin, show no secret")
    func workersLines() async throws {
      _ = try await durable.add("--", "true", "--password", "hunter2")
      let id = try await durable.add("--max-attempts", "1", "--", "no-such-program --password=hunter2")
      let worked = try await durable("work", "--drain")
      let said = try await worked.text + worked.stderr + allThatIsSaid(of: id)
      #expect(!said.contains("hunter2"), "\(said)")
      #expect(worked.text.contains("true --password"))
      #expect(said.contains("command not found: no-such-program …;"))
    }

    @Test("what a command has of secrets is shown only to who asks for it")
    func command() async throws {
      let id = try await durable.add(
        "--env", "TOKEN=s3cret", "--", "git", "clone", "https://me:hunter2@example.org/x", "https://t0ken@example.org/")
      let said = try await allThatIsSaid(of: id)
      for secret in ["hunter2", "s3cret", "t0ken"] { #expect(!said.contains(secret), "\(said)") }
      #expect(said.contains("git clone 'https://me:***@example.org/x'"))
      #expect(said.contains("TOKEN"))
      let second = try await durable.add("--", "curl", "-H", "Authorization: Bearer s3cret", "-u", "me:hunter2", "h")
      let more = try await allThatIsSaid(of: second)
      for secret in ["hunter2", "s3cret"] { #expect(!more.contains(secret), "\(more)") }
      #expect(more.contains("curl -H 'Authorization: ***' -u 'me:***' h"), "\(more)")
      #expect(
        try await durable("show", "\(second)", "--secrets").text.contains(
          "'Authorization: Bearer s3cret' -u me:hunter2"))
      let shown = try await durable("show", "\(id)", "--secrets").text
      #expect(shown.contains("git clone https://me:hunter2@example.org/x https://t0ken@example.org/"))
      #expect(shown.contains("TOKEN=s3cret"))
      let payload = try #require(
        try await durable("show", "\(id)", "--secrets", "--json").json["payload"] as? [String: Any])
      #expect((payload["env"] as? [String: String])?["TOKEN"] == "s3cret")
    }

    @Test(
      "the value of a variable that was given to a command alone is in no stored error, whatever the command writes")
    func valueInError() async throws {
      let line = "echo \"refused: $TOKEN and $MODE\" >&2; exit 1"
      let id = try await durable.add("--env", "TOKEN=s3cret", "--env", "MODE=fast", "--shell", "--", line)
      let work = try await durable("work", "--drain")
      #expect(work.text.contains("refused: *** and fast"), "\(work.text)")
      let job = try await durable("show", "--secrets", "--json", "\(id)").json
      let errors = try #require(job["errors"] as? [[String: Any]])
      #expect(errors.first?["message"] as? String == "exited with code 1: refused: *** and fast")
      #expect(try await durable("log", "\(id)").stderr.components(separatedBy: "s3cret").count == 2, "its own words")
    }

    @Test("a password beside bytes that are no UTF-8 is not shown")
    func noText() async throws {
      let words =
        ["add", "--", "fetch"].map { Array($0.utf8) } + [
          Array("https://me:hunter2".utf8) + [0xff, 0x85] + Array("@h/".utf8) + [0xfe]
        ]
      let id = try #require(Int(try await durable.run(words).line))
      let said = try await allThatIsSaid(of: id) + durable("work", "--drain").text
      #expect(!said.contains("hunter2"), "\(said)")
      #expect(said.contains(#"$'https://me:***@h/\xfe'"#), "\(said)")
    }

    @Test(
      "no password of a URL is in what a worker says, nor in an error that was stored", arguments: [[], ["--json"]])
    func errors(options: [String]) async throws {
      let id = try await durable.add(
        "--shell", "--", "echo \"fatal: no access to https://me:hunter2@example.org/x\" >&2; exit 1")
      let work = try await durable.run((["work", "--drain"] + options).map { Array($0.utf8) })
      let said = work.text + work.stderr
      #expect(said.contains("fatal: no access to https://me:***@example.org/x"), "\(said)")
      #expect(!said.contains("hunter2"), "\(said)")
      for line in [["status"], ["status", "--json"], ["show", "\(id)"], ["show", "\(id)", "--json"]] {
        let outcome = try await durable.run(line.map { Array($0.utf8) })
        #expect(!outcome.text.contains("hunter2"), "\(outcome.text)")
      }
      // The command's own words are its own; what is said of its end is not.
      let log = try await durable("log", "\(id)")
      #expect(log.stderr.components(separatedBy: "hunter2").count == 2, "\(log.stderr)")
    }

    @Test(
      "the value of a variable that --env names is in the arguments of no process",
      .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/cmdline"), "needs /proc"))
    func processList() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.run(
        ["add", "--env", "TOKEN", "--shell", "--", "echo $$ $PPID > said; sleep 600"].map { Array($0.utf8) },
        environment: ["TOKEN": "s3cret"]
      ).line
      _ = try await durable.work { worker in
        let numbers = await fifo.said().split(separator: " ").compactMap { pid_t($0) } + [worker.process]
        #expect(numbers.count == 3)
        for number in numbers {
          let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
          #expect(!line.isEmpty)
          #expect(line.range(of: Data("s3cret".utf8)) == nil)
        }
        kill(worker.process, SIGKILL)
        await worker.ends()
      }
      try await durable.untilGone(try #require(Int(id)))
    }
  }
#endif
