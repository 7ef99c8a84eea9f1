#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "get",
      abstract: "Download files, and go on after any interruption.",
      usage: "durable get [options] URL…",
      discussion: """
        A file grows as NAME.part and gets its name when it is whole. After Ctrl-C, a crash or a power cut, the same \
        command goes on where it stopped; so does 'durable work'. A download that is stored already, or under way in \
        another process, is joined. So there is no --unique: what makes a download one is its URL and its folder.

        durable get https://example.org/big.iso
        durable get -o iso --sha256 9f86d0…0f00a08 https://example.org/big.iso
        durable get -i list.txt --concurrency 4
        generate-list | durable get -i - --detach
        durable add --after $(durable get --detach https://a.org/b.zip) -- unzip b.zip
        """)

    @Option(
      name: [.customShort("o"), .customLong("folder")],
      help: ArgumentHelp("The folder for the files. It is made if what it is in exists.", valueName: "folder"),
      completion: .directory)
    var folder = "."
    @Option(
      name: [.customShort("O"), .customLong("name")],
      help: ArgumentHelp("The file's name, for one URL. Else the server's, else the URL's.", valueName: "name"),
      completion: .file())
    var name: String?
    @Option(help: ArgumentHelp("What the file's SHA-256 must be, for one URL.", valueName: "hex")) var sha256: String?
    @Option(
      help: ArgumentHelp(
        "What SHA-256 each file must have, by its name, as sha256sum writes them.", valueName: "file"),
      completion: .file())
    var sha256sums: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("How large the file must be, for one URL.", valueName: "bytes"))
    var size: Int64?
    @Option(
      name: [.customShort("H"), .long],
      help: ArgumentHelp(
        """
        A header for the requests, to the URL's own host only; may be repeated. @FILE reads headers from a file, one a \
        line, @- from standard input: so none is seen in a list of processes. They are stored with the download.
        """, valueName: "'name: value'"))
    var header: [String] = []
    @Option(
      help: ArgumentHelp("Users and passwords of hosts, as for curl, in place of ~/.netrc.", valueName: "file"),
      completion: .file())
    var netrcFile: String?
    @Option(
      help: ArgumentHelp("Trust these certificates (PEM) in place of the system's.", valueName: "file"),
      completion: .file())
    var cacert: String?
    @Flag(help: "Take a file of unknown length, too: one that is cut on its way looks whole then.")
    var acceptUnknownLength = false
    @Flag(help: "Replace a file that is there.") var overwrite = false
    @Flag(help: "Take a file that is there for the one that is wanted, unless the server tells of another.")
    var skipExisting = false
    @Flag(help: "Give the file the server's modification time.") var remoteTime = false
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("All together at most so fast: 800K, 1.5M, 1G bytes a second.", valueName: "speed"))
    var limitRate: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Files at once. Default: 6, and up to 32 while they are small.", valueName: "number"))
    var concurrency: Int?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Files from one host at once. Default: as many as run.", valueName: "number"))
    var perHost: Int?
    @Option(
      parsing: .unconditional, help: ArgumentHelp("Attempts for a file that bring it no further.", valueName: "number"))
    var maxAttempts: Int?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "How long an answer may take to begin, or hardly a byte may come: 60, 5m. Default: 30 s.", valueName: "time"))
    var timeout: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("How long making a connection may take. Default: 15 s.", valueName: "time"))
    var connectTimeout: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Give up what has not come by this moment, or before this time has passed.", valueName: "moment|time"))
    var deadline: String?
    @Option(
      name: [.customShort("i"), .customLong("input")],
      help: ArgumentHelp(
        """
        A list of URLs, one a line; '-' is standard input. Indented lines below one are of it alone: out=NAME, dir=FOLDER, \
        checksum=sha-256=HEX, size=BYTES, header=NAME: VALUE.
        """, valueName: "file"), completion: .file())
    var list: String?
    @Flag(name: .shortAndLong, help: "Say nothing but what went wrong.") var quiet = false
    @Flag(help: "Only store the downloads and print their ids; 'durable work' fetches them.") var detach = false
    @Option(help: ArgumentHelp("The queue to put them in.", valueName: "name")) var queue = "default"
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp(
        "Only while this holds: network, externalPower, diskSpace, or a name of your own. May be repeated.",
        valueName: "constraint"))
    var requires: [String] = []
    @OptionGroup var lane: LaneArguments
    @OptionGroup var connections: ConnectionArguments
    @OptionGroup var options: StoreOptions
    @Argument(help: ArgumentHelp("What to download.", valueName: "url")) var urls: [String] = []

    func run() async throws {
      try Program.provideRoom(forWork: true)
      let (own, repeats) = try downloads()
      let deadline = try deadline.map { JobDeadline.end(by: try DeadlineArgument.parse($0, "--deadline")) }
      if repeats > 0 {
        Talk.line("\(repeats) of the URLs \(repeats == 1 ? "is" : "are") named twice; each is fetched once")
      }
      if connections.isWaiting, !detach {
        throw ValidationError(
          "--after waits for other jobs, and this would fetch now; --detach leaves it to 'durable work'")
      }
      if lane.lane != nil, !detach {
        throw ValidationError(
          "--lane waits for the lane's other jobs, and this would fetch now; --detach leaves it to 'durable work', and "
            + "--concurrency 1 fetches one after the other")
      }
      let store = try await options.open()
      let intake = try await DownloadIntake(
        store.store, queue: queue, maxAttempts: maxAttempts, deadline: deadline, lane: lane.jobLane,
        requires: Set(requires.map { JobConstraint(rawValue: $0) }), tags: connections.tags,
        after: connections.dependencies, batch: connections.batch, isWaitedFor: !detach)
      guard !detach else { return try await keep(own, intake, store) }
      var limits = Downloader.Limits(perHost: perHost)
      limits.bytesPerSecond = try limitRate.map { try DownloadWords.speed($0) }
      if let timeout { limits.slowFor = try DurationArgument.parse(timeout).duration }
      if let connectTimeout { limits.connectTimeout = try DurationArgument.parse(connectTimeout).duration }
      try await ForegroundFetch(
        own, by: intake, in: store, limits: limits, netrc: DownloadWords.netrc(netrcFile),
        concurrency: concurrency, json: options.json, isQuiet: quiet, again: again
      ).run()
    }

    /// `-HNAME: VALUE` as two words, as curl takes it: the parser would not, and print all of it. Not of what an option takes
    /// whatever it begins with.
    static func partingHeaders(_ words: [String]) -> [String] {
      guard ["get", "send"].contains(words.first) else { return words }
      let end = words.firstIndex(of: "--") ?? words.endIndex
      var parted: [String] = []
      var isValue = false
      for word in words[..<end] {
        let isHeader = !isValue && word.hasPrefix("-H") && word != "-H" && !word.hasPrefix("-H=")
        parted += isHeader ? ["-H", String(word.dropFirst(2))] : [word]
        isValue = !isValue && ["-H", "--header", "-d", "--data", "--json-body", "--idempotency-key"].contains(word)
      }
      return parted + words[end...]
    }

    // MARK: What is asked for

    /// One of each, and how many more were named. Throws where anything is wrong, before anything but folders is made.
    private func downloads() throws -> (own: [Download], repeats: Int) {
      try checkNumbers()
      let header = CommandWords.parted(header)
      let typed = try CommandWords.parted(urls).map { try DownloadWords.url($0) }
      if let netrcFile { _ = try DownloadWords.netrc(netrcFile) }
      let certificates = try cacert.map { try DownloadWords.certificates($0) }
      try checkFile(isOne: typed.count == 1 && list == nil)
      if header.count(where: { $0 == "@-" }) + (list == "-" ? 1 : 0) > 1 {
        throw ValidationError("standard input can be read once: for one of -i and --header")
      }
      let headers = try header.flatMap { try DownloadWords.headers($0) }
      let listed = try list.map { try self.listed($0) } ?? []
      guard !(typed.isEmpty && listed.isEmpty) else {
        throw ValidationError(
          list.map { "nothing to get: \($0 == "-" ? "standard input" : $0) names no URL" }
            ?? (folder.contains("://") ? "nothing to get: -o took the URL for the name of a folder" : nil)
            ?? "nothing to get. Give URLs, as in: durable get https://example.org/file, or a list with -i")
      }
      var downloads = (typed.map { DownloadList.Entry(url: $0, place: "") } + listed).map {
        Download(
          from: $0.url, to: URL(fileURLWithPath: $0.folder ?? folder), named: $0.name ?? name,
          sha256: $0.sha256 ?? sha256,
          size: $0.size ?? size, acceptsUnknownLength: acceptUnknownLength, headers: headers + $0.headers,
          overwrites: overwrite, skipsExisting: skipExisting, keepsServerTime: remoteTime, caCertificates: certificates)
      }
      if let sha256sums {
        let sums = try ChecksumList(TextLines(of: sha256sums, "--sha256sums \(sha256sums)"))
        for index in downloads.indices where downloads[index].sha256 == nil {
          downloads[index].sha256 = try sums.sum(of: downloads[index].expectedName, at: downloads[index].url)
        }
      }
      // Nearly the last, as they may be made.
      let folders = typed.map { _ in folder } + listed.map { $0.folder ?? folder }
      var paths: [String: String] = [:]
      for (index, folder) in folders.enumerated() {
        let path = try paths[folder] ?? DownloadWords.folder(folder).absolutePath
        paths[folder] = path
        downloads[index].folder = path
      }
      let own = try Self.withoutRepeats(downloads, at: typed.map { _ in nil as String? } + listed.map { $0.place })
      if overwrite { try checkReplacing(own) }
      return (own, downloads.count - own.count)
    }

    /// The URLs of a list, or none of them if there is anything wrong with it.
    private func listed(_ path: String) throws -> [DownloadList.Entry] {
      let list = DownloadList(try TextLines(of: path, "-i \(path)"))
      guard !list.broken.isEmpty else { return list.urls }
      for line in list.broken.prefix(Self.linesTold) { Talk.error(line) }
      let more = list.broken.count - Self.linesTold
      if more > 0 { Talk.error("… and \(more) more") }
      throw ValidationError(
        "\(list.broken.count) \(list.broken.count == 1 ? "line" : "lines") of the list can't be read, so nothing was begun"
      )
    }

    private static let linesTold = 20

    /// What is of a file, and can be of one only.
    private func checkFile(isOne: Bool) throws {
      for (option, isGiven) in [("-O", name != nil), ("--sha256", sha256 != nil), ("--size", size != nil)]
      where isGiven && !isOne {
        throw ValidationError("\(option) is of one file; give it with one URL")
      }
      if let name {
        guard !name.contains("/") else {
          throw ValidationError("-O \(name): this is the file's name alone; its folder goes to -o")
        }
        try DownloadWords.check("-O") { $0.name = name }
      }
      if let sha256 { try DownloadWords.check("--sha256") { $0.sha256 = sha256 } }
      if let size { try DownloadWords.check("--size") { $0.size = size } }
    }

    /// Of those that would be one file, the last one would be all that is left.
    private func checkReplacing(_ downloads: [Download]) throws {
      var files: [[String]: Download] = [:]
      for download in downloads {
        let name = download.expectedName
        guard let other = files.updateValue(download, forKey: [download.folder, name]) else { continue }
        throw ValidationError(
          other.url == download.url
            ? "with --overwrite, \(download.shownURL) is named twice for \(name); name it once"
            : "with --overwrite, \(other.shownURL) and \(download.shownURL) would replace each other as \(name); get "
              + "them into different folders")
      }
    }

    private func checkNumbers() throws {
      for (option, value) in [
        ("--concurrency", concurrency), ("--per-host", perHost), ("--max-attempts", maxAttempts),
      ] {
        if let value, value < 1 { throw ValidationError("\(option) is \(value); it must be at least 1") }
      }
      if let limitRate { _ = try DownloadWords.speed(limitRate) }
      if let timeout, try DurationArgument.parse(timeout).duration <= .zero {
        throw ValidationError("--timeout is \(timeout); it must be more than 0")
      }
      if let connectTimeout, try DurationArgument.parse(connectTimeout).duration <= .zero {
        throw ValidationError("--connect-timeout is \(connectTimeout); it must be more than 0")
      }
      if quiet, options.json { throw ValidationError("--quiet and --json exclude each other") }
      try NewJob.check(queue: queue)
      for name in requires { try StoreSetting.constraint(JobConstraint(rawValue: name), satisfied: nil).check() }
      guard detach else { return }
      for (option, isGiven) in [
        ("--limit-rate", limitRate != nil), ("--concurrency", concurrency != nil), ("--per-host", perHost != nil),
        ("--netrc-file", netrcFile != nil), ("--timeout", timeout != nil), ("--connect-timeout", connectTimeout != nil),
        ("--quiet", quiet),
      ] where isGiven {
        throw ValidationError(
          "\(option) is of the process that fetches; --detach fetches nothing. Leave one of them out")
      }
    }

    /// One of each that are the same to the store. Throws for two that ask for different things: a check that was asked for
    /// would not be made.
    private static func withoutRepeats(_ downloads: [Download], at places: [String?]) throws -> [Download] {
      var seen: [String: Int] = [:]
      return try downloads.indices.filter { index in
        let download = downloads[index]
        guard let first = seen[download.identity] else {
          seen[download.identity] = index
          return true
        }
        guard !download.isDone(by: downloads[first]) else { return false }
        let told = [first, index].compactMap { places[$0] }.joined(separator: " and ")
        throw ValidationError(
          "\(download.shownURL) is named twice, with different options or users\(told.isEmpty ? "" : ": \(told)"); name "
            + "it once, or as two files")
      }.map { downloads[$0] }
    }

    // MARK: What becomes of it

    /// Only stores them, and prints their ids.
    private func keep(_ downloads: [Download], _ intake: DownloadIntake, _ store: OpenStore) async throws {
      OpenStore.leaveOpen()
      var ids: [JobID] = []
      var refusals: [String] = []
      for page in downloads.pages(of: DownloadIntake.page) {
        for (download, entry) in zip(page, try await intake.take(page)) {
          switch entry {
          case .job(let id, _, let lacks):
            ids.append(id)
            if !lacks.isEmpty { Talk.line(download.joins(id, lacking: lacks)) }
          case .runsOtherwise, .isNeededOtherwise: refusals.append(download.refusal(entry, in: store))
          }
        }
      }
      // All is stored by now, whoever has stopped reading.
      for page in ids.pages(of: DownloadIntake.page) {
        let jobs = options.json ? try await store.store.jobs(Array(page), detail: .all) : [:]
        for id in page {
          if options.json {
            if let job = jobs[id] { Screen.out.json(JobRecord(job, inStream: true)) }
          } else {
            Screen.out.line("\(id)")
          }
        }
      }
      if !ids.isEmpty { StoredAllTheSame.tell(ids) }
      if !options.json, Screen.error.isTerminal, let first = ids.first {
        try await store.sayIfNobodyWorks(on: first)
      }
      for refusal in refusals { Talk.error(refusal) }
      if !refusals.isEmpty { throw ExitCode(.jobFailed) }
    }

    private var again: CommandToRepeat {
      CommandToRepeat(SystemText.lastArguments(Int(CommandLine.argc) - 1), isTypable: list != "-")
    }
  }

  extension Download {
    /// Whether what `other` fetches is what this asks for, to the same place. One without a user has none against it.
    fileprivate func isDone(by other: Download) -> Bool {
      var other = other
      if url.user() == nil { other.url = url }
      return self == other
    }

    /// For everybody's eyes.
    fileprivate var shownURL: String { url.withoutCredentials.withoutPasswords }

    /// What to say where a job that was there lacks some of what was asked for with it.
    func joins(_ id: JobID, lacking lacks: [String]) -> String {
      "Job \(id) is to fetch \(shownURL) already: nothing was added, and \(lacks.joined(separator: ", "))"
    }

    /// What to say where another job stands in its way.
    func refusal(_ entry: DownloadIntake.Entry, in store: OpenStore) -> String {
      switch entry {
      case .job: ""
      case .runsOtherwise(let id):
        "job \(id) is fetching \(shownURL) already, with other options. Wait for it, or end it with: "
          + store.command("cancel \(id)")
      case .isNeededOtherwise(let id, let waiting):
        "job \(id) is to fetch \(shownURL) with other options, and job \(waiting) waits for it. "
          + "Leave it so, or end both with: \(store.command("cancel \(id)"))"
      }
    }
  }
#endif
