#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "send",
      abstract: "Store an HTTP request, to be sent by a worker until it has arrived.",
      usage: "durable send [options] METHOD URL",
      discussion: """
        Without a network it waits, for a week and longer. It is sent at least once: where a connection broke, nobody \
        knows whether the request was carried out, and it is sent again with the same Idempotency-Key. Prints the job's \
        id; with --follow what the server answers.

        In a header, {secret:NAME} stands for the variable NAME of the worker that sends. It is never stored, and \
        neither is what a file of headers holds.

        durable send POST https://example.org/orders --json-body '{"item": "tea"}'
        durable send PUT https://example.org/7 -d @7.jpg -H 'Token: {secret:TOKEN}'
        """)

    @Option(
      name: [.customShort("H"), .long],
      help: ArgumentHelp(
        """
        A header, to the URL's own host only; may be repeated. @FILE names a file of headers, one a line, that the \
        worker reads each time it sends.
        """, valueName: "'name: value'"))
    var header: [String] = []
    @Option(
      name: [.short, .long], parsing: .unconditional,
      help: ArgumentHelp(
        """
        The body: text, @FILE, or - for standard input; what that holds now is sent. Unless a header says otherwise, a text \
        is of the type of a form, as with curl, and a file of application/octet-stream.
        """, valueName: "text"))
    var data: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "The same, as application/json. --json TEXT is taken for it, as in curl; alone, that prints JSON.",
        valueName: "text"))
    var jsonBody: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        """
        By which the server knows the request again. While one with the same method, URL and key is unfinished, this \
        stores no other, unless --unique says otherwise. Default: one of its own.
        """, valueName: "key"))
    var idempotencyKey: String?
    @Flag(help: "Send no Idempotency-Key.") var noIdempotencyKey = false
    @Option(
      help: ArgumentHelp("Trust these certificates (PEM) in place of the system's.", valueName: "file"),
      completion: .file())
    var cacert: String?
    @OptionGroup var job: JobArguments
    @Flag(help: "Send it here and now, and print the body of the answer. Exits with 1 unless it has arrived.")
    var follow = false
    @OptionGroup var options: StoreOptions
    @Argument(help: ArgumentHelp("GET, POST, PUT, …, and where it goes.", valueName: "method url"))
    var words: [String] = []

    func run() async throws {
      if follow { try Program.provideRoom(forWork: true) }
      // What is wrong is told before the store is touched.
      var request = try request()
      let jobOptions = try job.options(isFollowed: follow)
      let body = try RequestBodyWord(data: data, json: jsonBody)
      try NewJob.check(queue: job.queue)
      try NewJob(
        queue: job.queue, kind: SendRequest.kind, payload: Data(),
        terms: JobTerms(
          maxAttempts: jobOptions.maxAttempts ?? 1, timeout: jobOptions.timeout, key: job.key, tags: jobOptions.tags,
          requires: jobOptions.requires)
      ).check()
      let store = try await options.open()
      try await check(request, jobOptions, in: store)
      request.body = try await copied(body, store)
      let sent = try await stored(request, jobOptions, store)
      if !follow { OpenStore.leaveOpen() }
      if !sent.disposition.isNew {
        if let copy = request.body.copy { BodyFolder(of: store.store).remove(copy) }
        let key = jobOptions.unique.map { "the unique key '\($0.key)'" } ?? "this request and this key"
        Talk.line("Job \(sent.id) has \(key) already: nothing was added")
      }
      let place = follow ? try await store.place(of: sent.id, kind: SendRequest.kind) : job.queue
      if options.json {
        Screen.out.json(JobRecord(try await store.store.job(sent.id), inStream: follow))
      } else if follow {
        Talk.line("Job \(sent.id)")
      } else {
        Screen.out.line("\(sent.id)")
      }
      if !follow { StoredAllTheSame.tell([sent.id]) }
      if follow {
        try await Following(store: store, queue: place, id: sent.id, json: options.json, runs: .requests).run()
      } else if Screen.error.isTerminal {
        try await store.sayIfUnknown(keys: job.connections.keysWaitedFor)
        try await store.sayIfNobodyWorks(on: sent.id)
      }
    }

    /// Before anything is copied: that the jobs and the batch are there, and that there is time before the deadline.
    private func check(_ request: SendRequest, _ jobOptions: JobOptions, in store: OpenStore) async throws {
      _ = try store.queue(job.queue).prepare(request, after: job.connections.dependencies, options: jobOptions)
      for id in job.connections.ids { _ = try await store.store.job(id, detail: []) }
      if let batch = job.connections.batch { _ = try await store.store.batchToJoin(batch) }
    }

    /// A copy of its body goes where it is sure that nothing was stored; else a worker does what is left.
    private func stored(
      _ request: SendRequest, _ jobOptions: JobOptions, _ store: OpenStore
    ) async throws -> InsertedJob {
      do {
        try check(request)
        let new = try store.queue(job.queue).prepare(request, after: job.connections.dependencies, options: jobOptions)
        return try await store.store.add([new], to: job.connections.batch)[0]
      } catch {
        let codes: [JobError.Code] = [.invalidArgument, .notEncodable, .notFound, .wrongState, .locked, .diskFull]
        if let copy = request.body.copy, (error as? JobError).map({ codes.contains($0.code) }) ?? true {
          BodyFolder(of: store.store).remove(copy)
        }
        throw error
      }
    }

    /// A signal that ends this process meanwhile takes the copy away.
    private func copied(_ body: RequestBodyWord, _ store: OpenStore) async throws -> SendRequest.Body {
      guard case .file = body else { return try body.body(keptIn: store) }
      let watch = await SignalWatch([SIGINT, SIGTERM, SIGHUP]) { signal in
        BodyFolder.removeDrafts()
        Foundation.exit(128 + signal)
      }
      defer { withExtendedLifetime(watch) {} }
      return try body.body(keptIn: store)
    }

    /// Without its body.
    private func request() throws -> SendRequest {
      guard words.count == 2 else {
        if options.json, words.count > 2 {
          throw ValidationError(
            "a method and a URL are wanted, and there are \(words.count) words. If one of them is meant as the body, it is "
              + "no JSON text; give that with --json-body")
        }
        let isMethodMissing = words.count == 1 && words[0].contains("://")
        throw ValidationError(
          isMethodMissing
            ? "the method is missing, as in: durable send POST \(words[0].withoutSecrets)"
            : "a method and a URL are wanted, as in: durable send POST https://example.org/orders")
      }
      if idempotencyKey != nil, noIdempotencyKey {
        throw ValidationError("--idempotency-key and --no-idempotency-key exclude each other")
      }
      var request = SendRequest(
        .init(rawValue: words[0].uppercased()), try DownloadWords.url(words[1]),
        caCertificates: try cacert.map { try DownloadWords.certificates($0) })
      if noIdempotencyKey { request.idempotencyKey = nil }
      if let idempotencyKey { request.idempotencyKey = idempotencyKey }
      for argument in CommandWords.parted(header) {
        if argument.hasPrefix("@") {
          request.headerFiles.append(try headerFile(String(argument.dropFirst())))
        } else {
          request.headers.append(try DownloadWords.header(argument, "--header"))
        }
      }
      try check(request)
      for header in request.headers where header.isCredential && header.secretNames.isEmpty {
        Talk.line("The value of \(header.name) is stored with the request. {secret:NAME} in its place would not be")
      }
      return request
    }

    /// The absolute path of a file that can be read now.
    private func headerFile(_ path: String) throws -> String {
      guard path != "-" else {
        throw ValidationError("--header @-: the worker reads the headers when it sends; name a file")
      }
      let file = URL(fileURLWithPath: path).absolutePath
      do { _ = try HeaderFile.headers(file) } catch { throw ValidationError("--header @\(path): \(error)") }
      return file
    }

    private func check(_ request: SendRequest) throws {
      do { try request.validate() } catch let error as RequestError { throw ValidationError(error.message) }
    }

    /// `--json TEXT` is `--json-body TEXT`; the same word without one is of every command. No method, no URL and no option
    /// begins as a JSON text or `@` does, but for `true` and its like, which are no methods, and `-` for standard input.
    static func partingJSON(_ words: [String]) -> [String] {
      guard words.first == "send" else { return words }
      return words.indices.map { index in
        let next = words[(index + 1)...].first?.drop(while: \.isWhitespace)
        if words[index] == "--json", let next, let first = next.first,
          "{[\"@0123456789".contains(first) || ["true", "false", "null", "-"].contains(next)
            || first == "-" && next.dropFirst().first?.isNumber == true
        {
          return "--json-body"
        }
        return words[index].hasPrefix("--json=")
          ? "--json-body=" + words[index].dropFirst("--json=".count) : words[index]
      }
    }
  }
#endif
