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
        another process, is joined.

        durable get https://example.org/big.iso
        durable get -o iso --sha256 9f86d0…0f00a08 https://example.org/big.iso
        durable get -i list.txt --concurrency 4
        generate-list | durable get -i - --detach
        """)

    @Option(
      name: [.customShort("o"), .customLong("folder")],
      help: ArgumentHelp("The folder for the files; it must exist.", valueName: "folder"))
    var folder = "."
    @Option(
      name: [.customShort("O"), .customLong("name")],
      help: ArgumentHelp("The file's name, for one URL. Else the server's, else the URL's.", valueName: "name"))
    var name: String?
    @Option(help: ArgumentHelp("What the file's SHA-256 must be, for one URL.", valueName: "hex")) var sha256: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("How large the file must be, for one URL.", valueName: "bytes"))
    var size: Int64?
    @Option(
      help: ArgumentHelp(
        "A header for the requests, to the URL's own host only; may be repeated.", valueName: "'name: value'"))
    var header: [String] = []
    @Option(help: ArgumentHelp("Trust these certificates (PEM) in place of the system's.", valueName: "file"))
    var cacert: String?
    @Flag(help: "Replace a file that is there.") var overwrite = false
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
      name: [.customShort("i"), .customLong("input")],
      help: ArgumentHelp("A list of URLs, one a line; '-' is standard input.", valueName: "file"))
    var list: String?
    @Flag(help: "Only store the downloads and print their ids; 'durable work' fetches them.") var detach = false
    @Option(help: ArgumentHelp("The queue to put them in.", valueName: "name")) var queue = "default"
    @OptionGroup var options: StoreOptions
    @Argument(help: ArgumentHelp("What to download.", valueName: "url")) var urls: [String] = []

    func run() async throws {
      Program.raiseLimitOfOpenFiles()
      let (downloads, broken) = try downloads()
      for line in broken { Talk.error(line) }
      let own = Self.withoutRepeats(downloads)
      let repeats = downloads.count - own.count
      if repeats > 0 {
        Talk.line("\(repeats) of the URLs \(repeats == 1 ? "is" : "are") named twice; each is fetched once")
      }
      let store = try options.open()
      let handles = try await enqueue(own, store)
      if detach {
        try await tell(handles.map(\.id), store)
      } else {
        var limits = Downloader.Limits(perHost: perHost ?? max(concurrency ?? 0, AutomaticConcurrency.many))
        limits.bytesPerSecond = try limitRate.map { try DownloadWords.speed($0) }
        try await Getting(
          store: store, downloads: Array(zip(own, handles)), limits: limits, concurrency: concurrency,
          json: options.json, goOn: goOn
        ).run()
      }
      if !broken.isEmpty {
        Talk.error("\(broken.count) \(broken.count == 1 ? "line" : "lines") of the list could not be read; see above")
        throw ExitCode(.usage)
      }
    }

    /// What is asked for, and what is wrong with the list. Nothing is touched before all of this is right.
    private func downloads() throws -> ([Download], broken: [String]) {
      try checkNumbers()
      var list = DownloadList(Data(), name: "")
      let typed = try urls.map { try DownloadWords.url($0) }
      let folder = try DownloadWords.folder(folder)
      let headers = try header.map { try DownloadWords.header($0) }
      let certificates = try cacert.map { try DownloadWords.certificates($0) }
      if typed.count != 1 || self.list != nil {
        for (option, isGiven) in [("-O", name != nil), ("--sha256", sha256 != nil), ("--size", size != nil)]
        where isGiven {
          throw ValidationError("\(option) is of one file; give it with one URL")
        }
      }
      let name = try name.map { try DownloadWords.name($0) }
      let sha256 = try sha256.map { try DownloadWords.sha256($0) }
      if let path = self.list { list = try DownloadList.read(path) }
      let urls = typed + list.urls
      guard !urls.isEmpty else {
        for line in list.broken { Talk.error(line) }
        throw ValidationError(
          self.list.map { "nothing to get: \($0 == "-" ? "standard input" : $0) names no URL" }
            ?? "nothing to get. Give URLs, as in: durable get https://example.org/file, or a list with -i")
      }
      let downloads = urls.map {
        Download(
          from: $0, to: folder, named: name, sha256: sha256, size: size, headers: headers, overwrites: overwrite,
          keepsServerTime: remoteTime, caCertificates: certificates)
      }
      if overwrite {
        // The last one would be all that is left.
        let named = Dictionary(grouping: Self.withoutRepeats(downloads), by: \.expectedName).values.first {
          $0.count > 1
        }
        if let named {
          throw ValidationError(
            "with --overwrite, \(named[0].url.withoutPassword) and \(named[1].url.withoutPassword) would replace each other as "
              + "\(named[0].expectedName); get them into different folders")
        }
      }
      do {
        for download in downloads { try download.validate() }
      } catch let error as DownloadError {
        throw ValidationError(error.message)
      }
      return (downloads, list.broken)
    }

    private func checkNumbers() throws {
      for (option, value) in [
        ("--concurrency", concurrency), ("--per-host", perHost), ("--max-attempts", maxAttempts),
      ] {
        if let value, value < 1 { throw ValidationError("\(option) is \(value); it must be at least 1") }
      }
      if let size, size < 0 { throw ValidationError("--size is \(size); it can't be less than 0") }
      if let limitRate { _ = try DownloadWords.speed(limitRate) }
      try NewJob.check(queue: queue)
      guard detach else { return }
      for (option, isGiven) in [
        ("--limit-rate", limitRate != nil), ("--concurrency", concurrency != nil), ("--per-host", perHost != nil),
      ] where isGiven {
        throw ValidationError(
          "\(option) is of the process that fetches; --detach fetches nothing. Leave one of them out")
      }
    }

    private static func withoutRepeats(_ downloads: [Download]) -> [Download] {
      var seen: Set<URL> = []
      return downloads.filter { seen.insert($0.url).inserted }
    }

    private func enqueue(_ downloads: [Download], _ store: OpenStore) async throws -> [JobHandle<DownloadedFile>] {
      // What somebody waits for goes before what waits for itself, and before what somebody waited for earlier: a small
      // file need not wait for a long list.
      var rank: JobPriority?
      if !detach {
        let earlier = try await store.store.jobs(
          JobQuery(.queue(queue) && .kind(Download.self) && .unfinished, order: .newestFirst, limit: 100))
        let highest = earlier.map(\.priority.rawValue).max() ?? 0
        rank = JobPriority(rawValue: min(max(1000, highest + 1), 1_000_000))
      }
      let jobOptions = JobOptions(priority: rank, maxAttempts: maxAttempts)
      var handles = try await store.queue(queue).enqueue(contentsOf: downloads, options: jobOptions)
      for (index, download) in downloads.enumerated() where !handles[index].isNew {
        guard try await giveWay(handles[index].id, to: download, store) else { continue }
        handles[index] = try await store.queue(queue).enqueue(download, options: jobOptions)
      }
      return handles
    }

    /// An unfinished download that was asked for with other options, another checksum for one, is not what is asked for
    /// now: it is cancelled, and what it brought stays for the new one. Throws if it runs.
    private func giveWay(_ id: JobID, to download: Download, _ store: OpenStore) async throws -> Bool {
      guard let old = try await store.store.jobs(JobQuery(.id(id), detail: .payload, limit: 1)).first,
        !old.state.isFinished, let stored = Download(old), stored != download
      else { return false }
      // Its process may be dead, and nobody have noticed.
      if old.state == .running { _ = try await store.store.recover(RecoveryRequest()) }
      guard try await store.store.job(id).state != .running else {
        throw JobError(
          .alreadyRunning,
          "job \(id) is fetching \(download.url.withoutPassword) already, with other options. Wait for it, or end it with: "
            + "durable cancel \(id)")
      }
      try await store.store.change(.cancel(reason: "asked for again with other options"), id)
      return true
    }

    private func tell(_ ids: [JobID], _ store: OpenStore) async throws {
      for id in ids {
        if options.json { Screen.out.json(JobRecord(try await store.store.job(id))) } else { Screen.out.line("\(id)") }
      }
      if !options.json, Screen.error.isTerminal, let first = ids.first { try await store.sayIfNobodyWorks(on: first) }
    }

    /// What to type to go on; nil if it can't be typed.
    private var goOn: String? {
      let words = SystemText.lastArguments(Int(CommandLine.argc) - 1)
      let line = (["durable"] + words.map(\.shellQuoted)).joined(separator: " ")
      return list == "-" || line.utf8.count > 500 ? nil : line
    }
  }

  extension JobFilter {
    /// Jobs that have not ended.
    static var unfinished: JobFilter {
      JobState.allCases.filter { !$0.isFinished }.map { .state($0) }.reduce(nil) { (all: JobFilter?, one) in
        all.map { $0 || one } ?? one
      }!
    }
  }
#endif
