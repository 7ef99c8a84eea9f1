#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOHTTP1

  /// Asks servers for a file, from redirect to redirect.
  struct FileRequest {
    static let maxRedirects = 10

    let url: HTTPURL
    let download: Download
    let clients: Clients
    let proxies: Proxies
    /// Read anew for each attempt; nil if there is none, or if the download brings what is sent in its place.
    private let netrc: Netrc?

    /// Throws ``DownloadError`` if the URL can't be one, or the file of passwords can't be read.
    init(_ download: Download, clients: Clients, proxies: Proxies, netrc: String?) throws {
      self.download = download
      self.clients = clients
      self.proxies = proxies
      url = try download.address
      let isGiven = download.headers.contains { $0.name.lowercased() == "authorization" } || url.credentials != nil
      self.netrc = isGiven ? nil : try netrc.map { try Netrc(path: $0) }
    }

    /// For a person.
    var host: String { url.hostAndPort }

    struct Reply {
      var answer: Answer
      var body: HTTPClientResponse.Body
    }

    /// The answer of the server that has the file, or has an error. Throws ``Setback``, or what the client throws.
    func reply(to question: Answer.Question) async throws -> Reply {
      var url = url
      var way = Way.own
      for _ in 0...Self.maxRedirects {
        let response = try await ask(url, question, way)
        let answer = Answer(
          status: Int(response.status.code), headers: response.headers, version: response.version)
        guard case .redirect(let target) = answer.verdict(on: question) else {
          return Reply(answer: answer, body: response.body)
        }
        guard let next = url.following(target) else {
          throw Setback.final(
            DownloadError(
              .unusableAnswer, "the server redirects to '\(target.withoutSecrets)', which is no http or https URL"))
        }
        if next.origin != url.origin { way = url.isSecure && !next.isSecure ? .open : max(way, .elsewhere) }
        url = next
      }
      throw Setback.final(
        DownloadError(
          .unusableAnswer,
          "the server redirects more than \(Self.maxRedirects) times, at last to \(url.description.withoutQuery)"))
    }

    /// What was said on the way to a URL decides what it is told. What was held back once stays so, wherever the redirects
    /// lead.
    private enum Way: Comparable {
      /// Through the download's own scheme, host and port alone.
      case own
      case elsewhere
      /// Down from https to http.
      case open
    }

    private func ask(_ url: HTTPURL, _ question: Answer.Question, _ way: Way) async throws -> HTTPClientResponse {
      var kind = Clients.Kind(
        proxy: try proxies.proxy(for: url), caCertificates: url.isSecure ? download.caCertificates : nil,
        decodes: question.decodes)
      kind.asksProxy = kind.proxy?.kind == .http && !url.isSecure
      var request = HTTPClientRequest(url: RequestTarget.url(on: url.origin, for: url.target))
      request.headers = headers(url, question, way)
      if kind.asksProxy, let proxy = kind.proxy {
        request.url = RequestTarget.url(
          on: "http://\(proxy.hostAndPort)", for: "http://\(url.hostField)\(url.target)")
        if let credentials = proxy.credentials {
          request.headers.replaceOrAdd(name: "Proxy-Authorization", value: credentials.basic)
        }
      }
      let client = try clients.client(kind)
      let peer = kind.proxy.map { "the proxy \($0.hostAndPort)" } ?? url.hostAndPort
      do {
        do {
          return try await client.execute(request, deadline: .distantFuture)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed {
          // A connection that was kept for another request may have been closed just before this one.
          return try await client.execute(request, deadline: .distantFuture)
        }
      } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
        throw Setback.final(
          DownloadError(
            .refused, "\(peer) wants a user and a password, or others than it got, as in http://USER:PASSWORD@HOST"))
      } catch {
        throw DownloadError.connection(error, peer) ?? error
      }
    }

    private func headers(_ url: HTTPURL, _ question: Answer.Question, _ way: Way) -> HTTPHeaders {
      var headers: HTTPHeaders = ["Host": url.hostField, "User-Agent": "durable/0.1", "Accept": "*/*"]
      if !question.decodes { headers.add(name: "Accept-Encoding", value: "identity") }
      if let credentials = credentials(for: url, way) { headers.add(name: "Authorization", value: credentials.basic) }
      if way == .own {
        for header in download.headers { headers.remove(name: header.name) }
        for header in download.headers {
          // A request has one host.
          if header.name.lowercased() == "host" { headers.remove(name: header.name) }
          headers.add(name: header.name, value: header.value.trimmingCharacters(in: .whitespaces))
        }
      }
      // What resuming needs is not for others to set, nor what a connection needs.
      for name in ["Range", "If-Range", "TE"] { headers.remove(name: name) }
      if question.offset > 0 {
        headers.add(name: "Range", value: "bytes=\(question.offset)-")
        if let validator = question.known.validator { headers.add(name: "If-Range", value: validator) }
      }
      return headers
    }

    private func credentials(for url: HTTPURL, _ way: Way) -> HTTPURL.Credentials? {
      switch way {
      case .own: self.url.credentials ?? netrc?.credentials(for: url.host, isNamed: false)
      case .elsewhere: netrc?.credentials(for: url.host, isNamed: true)
      case .open: nil
      }
    }
  }
#endif
