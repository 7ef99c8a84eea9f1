#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOHTTP1

  /// Requests a file from servers, from redirect to redirect.
  struct FileRequest {
    static let maxRedirects = 10

    let url: HTTPURL
    let download: Download
    let clients: Clients
    let proxies: Proxies
    let hosts: Hosts
    /// Read again for each attempt; nil if there is none, or if the download has its own credentials.
    private let netrc: Netrc?
    let asker: Asker

    /// Throws ``DownloadError`` if the URL is not valid, or the file of passwords can't be read.
    init(_ download: Download, clients: Clients, proxies: Proxies, hosts: Hosts, netrc: String?) throws {
      self.download = download
      self.clients = clients
      self.proxies = proxies
      self.hosts = hosts
      url = try download.address
      let isGiven = download.headers.contains { $0.name.lowercased() == "authorization" } || url.credentials != nil
      self.netrc = isGiven ? nil : try netrc.flatMap { try Netrc.read($0) }
      asker = Asker(download, at: url, self.netrc)
    }

    /// For a person.
    var host: String { url.hostAndPort }

    struct Reply {
      var answer: FileAnswer
      /// Where the answer is from.
      var origin: String
      var body: HTTPClientResponse.Body
    }

    /// The answer of the server that has the file, or an error. Throws ``Setback``, or the client's errors. `isSent` is told
    /// whenever a request goes out, or is to go out.
    func reply(to question: FileAnswer.Question, isSent: @escaping @Sendable (Bool) -> Void) async throws -> Reply {
      var url = url
      var way = Way.own
      var cookies = WayCookies()
      var users: Set<String> = []
      for _ in 0...Self.maxRedirects {
        isSent(false)
        let credentials = way.credentials(for: url, own: self.url.credentials, netrc)
        if netrc != nil, let credentials { users.insert(Asker.digest(of: credentials, at: url.host)) }
        let response = try await ask(url, question, way, credentials, cookies.header(for: url)) { _ in isSent(true) }
        var answer = FileAnswer(
          status: Int(response.status.code), headers: response.headers, version: response.version)
        answer.isFromElsewhere = url.path != self.url.path
        (answer.place, answer.source) = (url.place, url.source)
        answer.users = Asker.users(users)
        guard let target = answer.redirect else {
          return Reply(answer: answer, origin: url.origin, body: response.body)
        }
        cookies.take(response.headers["Set-Cookie"], from: url)
        guard let next = url.following(target) else {
          throw Setback.final(
            DownloadError(
              .unusableAnswer, "the server redirects to '\(target.withoutSecrets)', which is no http or https URL"))
        }
        if next.origin != url.origin { try hosts.checkPause(of: next) }
        way = way.leading(from: url, to: next)
        url = next
      }
      throw Setback.final(
        DownloadError(
          .unusableAnswer,
          "the server redirects more than \(Self.maxRedirects) times, at last to \(url.description.withoutQuery)"))
    }

    private func ask(
      _ url: HTTPURL, _ question: FileAnswer.Question, _ way: Way, _ credentials: HTTPURL.Credentials?,
      _ cookies: String?, onDeparture: @escaping @Sendable (any Channel) -> Void
    ) async throws -> HTTPClientResponse {
      var headers = headers(url, question, way, credentials)
      if let cookies {
        let given = headers["Cookie"] + [cookies]
        headers.replaceOrAdd(name: "Cookie", value: given.joined(separator: "; "))
      }
      return try await ClientRequest(
        url: url, headers: headers, caCertificates: download.caCertificates,
        decodes: question.decodes, onDeparture: onDeparture
      ).response(by: clients, through: proxies)
    }

    private func headers(
      _ url: HTTPURL, _ question: FileAnswer.Question, _ way: Way, _ credentials: HTTPURL.Credentials?
    ) -> HTTPHeaders {
      var headers: HTTPHeaders = ["Host": url.hostField, "User-Agent": "durable/0.1", "Accept": "*/*"]
      if !question.decodes { headers.add(name: "Accept-Encoding", value: "identity") }
      if let credentials {
        headers.add(name: "Authorization", value: credentials.basic)
      }
      if way == .own {
        for header in download.headers { headers.remove(name: header.name) }
        for header in download.headers {
          // A request has one host.
          if header.name.lowercased() == "host" { headers.remove(name: header.name) }
          headers.add(name: header.name, value: header.value.trimmingCharacters(in: .whitespaces))
        }
      }
      if question.offset > 0 {
        headers.add(name: "Range", value: "bytes=\(question.offset)-")
        if let validator = question.known.validator { headers.add(name: "If-Range", value: validator) }
      }
      return headers
    }
  }
#endif
