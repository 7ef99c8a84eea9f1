#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import DurableJobsSystem
  import Foundation
  import NIOCore
  import NIOHTTP1

  /// One attempt to have a request answered, from redirect to redirect.
  struct Delivery: Sendable {
    let request: SendRequest
    let url: HTTPURL
    /// With the values of their secrets.
    let headers: [HTTPHeader]
    let netrc: Netrc?
    /// What must not be told of in ``headers``.
    let secrets: [Data]
    let clients: Clients
    let proxies: Proxies
    let hosts: Hosts
    let standstill: Standstill
    /// Where the body is, if it is in a file.
    let bodyPath: String?
    /// Told how many bytes of such a body have gone, and of how many.
    let onProgress: @Sendable (Int64, Int64) -> Void
    /// Told of an answer that decides before its body has come, which may take long.
    let onArrival: @Sendable (HTTPAnswer) -> Void
    /// Whether an attempt before this one may have arrived.
    let wasSentBefore: @Sendable () async -> Bool
    /// ``SendAttempt/wasRepeated``
    let wasRepeated: Lock<Bool>
    /// Over which the request went last.
    private let connection = Lock<(any Channel)?>(nil)

    /// The server does not do what was asked.
    enum Refusal: Error {
      case final(RequestError)
      /// `by` is the origin that says so.
      case forNow(RequestError, RetryAfter?, by: String)
    }

    /// The answer, if it is a success. Throws ``Refusal``, ``RequestError``, ``Setback``, ``DownloadError``, or
    /// `CancellationError`.
    func answer() async throws -> HTTPAnswer {
      let file: FileBody?
      do {
        file = try bodyPath.map { path in
          try FileBody(path: path) { [standstill, onProgress] sent, length in
            if sent < length { standstill.moved() } else { standstill.awaitsAnswer() }
            onProgress(sent, length)
          }
        }
      } catch let error as RequestError where error.code == .connection {
        // Nothing has gone.
        throw Refusal.forNow(error, nil, by: url.origin)
      }
      return try await standstill.watching(
        url.hostAndPort, taken: { await connection.withLock { $0 }?.bytesTaken }
      ) { try await answer(file) }
    }

    private func answer(_ file: FileBody?) async throws -> HTTPAnswer {
      var url = url
      var way = Way.own
      var secrets = secrets
      for _ in 0...FileRequest.maxRedirects {
        let credentials = way.credentials(for: url, own: nil, netrc)
        let ofProxy = try proxies.proxy(for: url)?.credentials
        // Where it came by may stand in what is told farther on.
        secrets += [credentials, ofProxy].flatMap { $0?.secrets ?? [] }
        let redaction = Redaction(secrets)
        let upload = Upload { [standstill] in standstill.sentAll() }
        let response = try await ask(url, way, credentials, file, upload)
        let status = Int(response.status.code)
        let past = await past(of: status)
        switch RequestVerdict(status: status, response.headers, to: request.method, past: past) {
        case .success:
          return try await success(response, url, redaction, file, upload)
        case .failed(let reason):
          throw Refusal.final(await refusal(reason, response, redaction))
        case .failedForNow(let reason, let retryAfter):
          throw Refusal.forNow(await refusal(reason, response, redaction), retryAfter, by: url.origin)
        case .redirect(let target):
          guard let next = url.following(target) else {
            throw refused(
              redaction("the server redirects to '\(target.withoutSecrets)', which is no http or https URL"))
          }
          way = way.leading(from: url, to: next)
          guard way < .open || request.method.isQuestion else {
            throw refused(
              redaction(
                "the server redirects from https to \(next.description.withoutQuery), where the request is not sent"))
          }
          if next.origin != url.origin { try hosts.checkPause(of: next) }
          secrets += next.secretFields
          url = next
        }
      }
      throw refused(
        Redaction(secrets)(
          "the server redirects more than \(FileRequest.maxRedirects) times, at last to \(url.description.withoutQuery)"
        ))
    }

    private func past(of status: Int) async -> RequestVerdict.Past {
      guard [404, 409, 410, 412].contains(status) else { return RequestVerdict.Past() }
      let hasKey = request.idempotencyKey != nil || headers.contains { $0.name.lowercased() == "idempotency-key" }
      let wasSentBefore = await wasSentBefore()
      return RequestVerdict.Past(mayHaveArrived: wasRepeated.withLock { $0 } || wasSentBefore, hasKey: hasKey)
    }

    private func refused(_ message: String) -> Refusal { .final(RequestError(.refused, message)) }

    // MARK: What is sent

    private func ask(
      _ url: HTTPURL, _ way: Way, _ credentials: HTTPURL.Credentials?, _ file: FileBody?, _ upload: Upload
    ) async throws -> HTTPClientResponse {
      let bytes = request.body.bytes
      let sent = ClientRequest(
        url: url, method: HTTPMethod(rawValue: request.method.rawValue), headers: headers(for: url, way, credentials),
        body: {
          file.map { .stream($0, length: .known($0.length)) } ?? bytes.map { .bytes($0) }
        }, isStreamed: file != nil, caCertificates: request.caCertificates,
        willRepeat: { wasRepeated.withLock { $0 = true } },
        onDeparture: { [connection] channel in connection.withLock { $0 = channel } }, upload: upload)
      if file?.length ?? 0 > 0 { standstill.moved() } else { standstill.awaitsAnswer() }
      return try await sent.response(by: clients, through: proxies)
    }

    private func headers(for url: HTTPURL, _ way: Way, _ credentials: HTTPURL.Credentials?) -> HTTPHeaders {
      var sent: HTTPHeaders = [
        "Host": url.hostField, "User-Agent": "durable/0.1", "Accept": "*/*", "Accept-Encoding": "identity",
      ]
      if let type = request.body.type { sent.add(name: "Content-Type", value: type) }
      if let key = request.idempotencyKey { sent.add(name: "Idempotency-Key", value: key) }
      if let credentials {
        sent.add(name: "Authorization", value: credentials.basic)
      }
      // What is said of the body goes where the body goes.
      let own = headers.filter { way == .own || Self.ofBody.contains($0.name.lowercased()) }
      for header in own { sent.remove(name: header.name) }
      for header in own {
        if header.name.lowercased() == "host" { sent.remove(name: header.name) }
        sent.add(name: header.name, value: header.value.trimmingCharacters(in: .whitespaces))
      }
      return sent
    }

    /// Headers without which a body may mean something else, and by which a server knows a sending again.
    private static let ofBody: Set<String> = [
      "idempotency-key", "content-type", "content-encoding", "content-language", "content-location",
      "content-disposition",
      "content-range",
      "content-md5", "content-digest", "digest", "repr-digest",
    ]

    // MARK: What comes back

    private func success(
      _ response: HTTPClientResponse, _ url: HTTPURL, _ redaction: Redaction, _ file: FileBody?, _ upload: Upload
    ) async throws -> HTTPAnswer {
      let head = HTTPAnswer(
        status: Int(response.status.code),
        headers: HTTPAnswer.keptHeaders.flatMap { name in
          response.headers[name].map { HTTPHeader(name, redaction($0)) }
        },
        body: Data(), isCut: true)
      async let _: Void = tell(of: head, onceWhole: upload)  // cancelled at the end of this
      let (data, end) = await body(of: response, HTTPAnswer.mostBytes + redaction.margin + 1, upload)
      // Whatever was answered: nobody has all of what was to be sent. But over HTTP/2 a server that has answered may say that
      // it needs no more (RFC 9113, section 8.1).
      var isAnsweredWhole: Bool { if case .whole = end { response.version == .http2 } else { false } }
      guard upload.isWhole || isAnsweredWhole && file?.failure.value == nil else {
        try Task.checkCancellation()
        if let failure = file?.failure.value { throw failure }
        if case .broken(let error as RequestError) = end { throw error }
        throw RequestError(
          .connection,
          "\(url.hostAndPort) answered \(response.status.code), and closed the connection before it had the whole request, "
            + "which has not arrived. If that stays so, send less at once: it may have a limit, or a proxy before it")
      }
      // Of what only asks, the answer is all that it is for. Others have done their work, whoever wants their end now.
      if request.method.isQuestion { try Task.checkCancellation() }
      if case .broken(let error) = end, request.method.isQuestion {
        if let error = error as? RequestError { throw error }
        throw error.flatMap { DownloadError.connection($0, url.hostAndPort) }
          ?? DownloadError(.connection, "\(url.hostAndPort) closed the connection before the end of its answer")
      }
      var answer = head
      answer.body = redaction.kept(data, HTTPAnswer.mostBytes, isCut: end.isCut)
      answer.isCut = end.isCut || redaction(data).count > answer.body.count
      return answer
    }

    /// Some servers answer before they have all of a request. Not on the thread that hears that it has gone: it may take long.
    private func tell(of answer: HTTPAnswer, onceWhole upload: Upload) async {
      guard !request.method.isQuestion else { return }
      await upload.end()
      if upload.isWhole { onArrival(answer) }
    }

    /// An error with the beginning of what the server says of it.
    private func refusal(
      _ reason: String, _ response: HTTPClientResponse, _ redaction: Redaction
    ) async -> RequestError {
      let most = 2048
      let (data, end) = await body(of: response, most + redaction.margin)
      let text = redaction.kept(data, most, isCut: end.isCut).asExcerpt()
      var error = RequestError(.refused, redaction(reason) + (text.isEmpty ? "" : ": \(text)"))
      error.status = Int(response.status.code)
      return error
    }

    private enum Ending {
      case whole
      /// There may be more than was wanted.
      case more
      case broken((any Error)?)

      var isCut: Bool { if case .whole = self { false } else { true } }
    }

    /// At most `most` bytes of it; what has come of one that stands still, or takes too long.
    ///
    /// Meanwhile what is left of `upload` goes out; to be refused, a request need not be whole.
    private func body(of response: HTTPClientResponse, _ most: Int, _ upload: Upload? = nil) async -> (Data, Ending) {
      let came = Lock(Data())
      let rest = standstill.decided(hasSent: upload == nil)
      if upload?.isWhole == true { standstill.sentAll() }
      do {
        try await rest.watching(
          url.hostAndPort,
          taken: {
            upload?.isOver == false ? await connection.value?.bytesTaken : nil
          }
        ) {
          for try await piece in response.body {
            // While a request goes out, what counts is that it is taken.
            if upload?.isOver != false { rest.moved() }
            let count = came.withLock { came in
              if came.count < most { came.append(contentsOf: piece.readableBytesView) }
              return came.count
            }
            // Who stops reading ends the request, too.
            if count >= most, upload?.isOver != false { return }
          }
          await upload?.end()
        }
      } catch {
        return (came.withLock { $0 }, .broken(error))
      }
      let data = came.withLock { $0 }
      if data.count >= most { return (data.prefix(most), .more) }
      guard request.method != .head, ![204, 304].contains(response.status.code) else { return (data, .whole) }
      switch BodyEnd(response.headers, response.version) {
      case .after(let length) where data.count < length: return (data, .broken(nil))
      // Whether the connection ended because the answer did nobody can tell.
      case .untold: return (data, .more)
      default: return (data, .whole)
      }
    }
  }
#endif
