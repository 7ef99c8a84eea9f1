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

    /// For a person.
    var host: String { url.hostAndPort }

    struct Reply {
      var answer: Answer
      /// Who gave it, after all redirects.
      var origin: String
      var body: HTTPClientResponse.Body
    }

    /// The answer of the server that has the file, or has an error. Throws ``Setback``, or what the client throws.
    func reply(to question: Answer.Question) async throws -> Reply {
      var url = url
      // Once they were held back, they stay so, wherever the redirects lead.
      var hasCredentials = true
      for _ in 0...Self.maxRedirects {
        let response = try await ask(url, question, hasCredentials: hasCredentials)
        let answer = Answer(
          status: Int(response.status.code), headers: response.headers, version: response.version)
        guard case .redirect(let target) = answer.verdict(on: question) else {
          return Reply(answer: answer, origin: url.origin, body: response.body)
        }
        guard let next = url.following(target) else {
          throw Setback.final(
            DownloadError(.unusableAnswer, "the server redirects to '\(target)', which is no http or https URL"))
        }
        if next.origin != url.origin { hasCredentials = false }
        url = next
      }
      throw Setback.final(
        DownloadError(
          .unusableAnswer,
          "the server redirects more than \(Self.maxRedirects) times, at last to \(url)"))
    }

    private func ask(
      _ url: HTTPURL, _ question: Answer.Question, hasCredentials: Bool
    ) async throws -> HTTPClientResponse {
      var kind = Clients.Kind(
        proxy: try proxies.proxy(for: url), caCertificates: url.isSecure ? download.caCertificates : nil,
        decodes: question.decodes)
      kind.asksProxy = kind.proxy?.kind == .http && !url.isSecure
      var request = HTTPClientRequest(url: RequestTarget.url(on: url.origin, for: url.target))
      request.headers = headers(url, question, hasCredentials: hasCredentials)
      if kind.asksProxy, let proxy = kind.proxy {
        request.url = RequestTarget.url(
          on: "http://\(proxy.host):\(proxy.port)", for: "http://\(url.hostField)\(url.target)")
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

    private func headers(_ url: HTTPURL, _ question: Answer.Question, hasCredentials: Bool) -> HTTPHeaders {
      var headers: HTTPHeaders = ["Host": url.hostField, "User-Agent": "durable/0.1", "Accept": "*/*"]
      if !question.decodes { headers.add(name: "Accept-Encoding", value: "identity") }
      if hasCredentials {
        if let credentials = self.url.credentials { headers.add(name: "Authorization", value: credentials.basic) }
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
#endif
