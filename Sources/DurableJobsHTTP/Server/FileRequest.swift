#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOHTTP1

  /// Asks servers for a file, from redirect to redirect.
  struct FileRequest {
    static let maxRedirects = 10

    let download: Download
    let clients: Clients
    let proxies: Proxies

    /// For a person.
    var host: String { download.url.hostAndPort }

    struct Reply {
      var answer: Answer
      /// Who gave it, after all redirects.
      var origin: String
      var body: HTTPClientResponse.Body
    }

    /// The answer of the server that has the file, or has an error. Throws ``Setback``, or what the client throws.
    func reply(to question: Answer.Question) async throws -> Reply {
      var url = download.url
      // Once they were held back, they stay so, wherever the redirects lead.
      var hasCredentials = true
      for _ in 0...Self.maxRedirects {
        let response = try await ask(url, question, hasCredentials: hasCredentials)
        let answer = Answer(
          status: Int(response.status.code), headers: response.headers, isHTTP1: response.version.major < 2)
        guard case .redirect(let target) = answer.verdict(on: question) else {
          return Reply(answer: answer, origin: url.origin, body: response.body)
        }
        guard let next = URL(string: target, relativeTo: url)?.absoluteURL, next.isFetchable else {
          throw Setback.final(
            DownloadError(.unusableAnswer, "the server redirects to '\(target)', which is no http or https URL"))
        }
        if next.origin != url.origin { hasCredentials = false }
        url = next
      }
      throw Setback.final(
        DownloadError(
          .unusableAnswer,
          "the server redirects more than \(Self.maxRedirects) times, at last to \(url.withoutCredentials)"))
    }

    private func ask(
      _ url: URL, _ question: Answer.Question, hasCredentials: Bool
    ) async throws -> HTTPClientResponse {
      let isSecure = url.scheme?.lowercased() == "https"
      var kind = Clients.Kind(
        proxy: try proxies.proxy(for: url), caCertificates: isSecure ? download.caCertificates : nil,
        decodes: question.decodes)
      kind.asksProxy = kind.proxy?.kind == .http && !isSecure
      var request = HTTPClientRequest(url: url.withoutCredentials)
      request.headers = headers(url, question, hasCredentials: hasCredentials)
      if kind.asksProxy, let proxy = kind.proxy {
        request.url = url.reached(through: proxy)
        request.headers.replaceOrAdd(name: "Host", value: url.hostAndPort)
        if let user = proxy.user {
          request.headers.replaceOrAdd(
            name: "Proxy-Authorization", value: Self.basic(user, proxy.password ?? ""))
        }
      }
      let client = try clients.client(kind)
      let peer = kind.proxy.map { "the proxy \($0.host):\($0.port)" } ?? url.hostAndPort
      do {
        do {
          return try await client.execute(request, deadline: .distantFuture)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed {
          // A connection that was kept for another request may have been closed just before this one.
          return try await client.execute(request, deadline: .distantFuture)
        }
      } catch {
        throw DownloadError.connection(error, peer) ?? error
      }
    }

    private func headers(_ url: URL, _ question: Answer.Question, hasCredentials: Bool) -> HTTPHeaders {
      var headers: HTTPHeaders = ["User-Agent": "durable/0.1", "Accept": "*/*"]
      if !question.decodes { headers.add(name: "Accept-Encoding", value: "identity") }
      if hasCredentials {
        if let user = download.url.user(percentEncoded: false) {
          let password = download.url.password(percentEncoded: false) ?? ""
          headers.add(name: "Authorization", value: Self.basic(user, password))
        }
        for header in download.headers { headers.replaceOrAdd(name: header.name, value: header.value) }
      }
      // What resuming needs is not for others to set.
      headers.remove(name: "Range")
      headers.remove(name: "If-Range")
      if question.offset > 0 {
        headers.add(name: "Range", value: "bytes=\(question.offset)-")
        if let validator = question.known.validator { headers.add(name: "If-Range", value: validator) }
      }
      return headers
    }

    private static func basic(_ user: String, _ password: String) -> String {
      "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
  }

  extension URL {
    /// `http` or `https`, with a host.
    var isFetchable: Bool {
      ["http", "https"].contains(scheme?.lowercased()) && !(host(percentEncoded: true) ?? "").isEmpty
    }

    /// The same for all that name the same: scheme and host in small letters, and without what follows a `#`, which is
    /// never sent.
    var normalized: URL {
      guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
      parts.fragment = nil
      parts.scheme = parts.scheme?.lowercased()
      parts.percentEncodedHost = parts.percentEncodedHost?.lowercased()
      return parts.url ?? self
    }

    var withoutCredentials: String {
      guard user != nil || password != nil || fragment != nil || baseURL != nil else { return absoluteString }
      var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
      parts?.user = nil
      parts?.password = nil
      parts?.fragment = nil
      return parts?.string ?? absoluteString
    }

    fileprivate func reached(through proxy: Proxies.Proxy) -> String {
      var parts = URLComponents(string: withoutCredentials)
      parts?.host = proxy.host
      parts?.port = proxy.port
      return parts?.string ?? withoutCredentials
    }
  }
#endif
