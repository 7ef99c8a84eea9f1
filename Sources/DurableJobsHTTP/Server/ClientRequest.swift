#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOHTTP1

  /// A request to one server, byte by byte as it is to be asked, through the proxy that leads there. No redirect is
  /// followed.
  struct ClientRequest {
    var url: HTTPURL
    var method = HTTPMethod.GET
    var headers: HTTPHeaders
    /// Made anew where the request is sent anew.
    var body: () -> HTTPClientRequest.Body? = { nil }
    /// The body is read as it is sent.
    var isStreamed = false
    var caCertificates: String?
    var decodes = false

    /// Whether it may arrive twice without harm: RFC 9110, section 9.2.2. Of others another attempt is the job's, and counted.
    private var mayBeRepeated: Bool {
      ![.POST, .PATCH, .CONNECT].contains(method) || headers.contains(name: "Idempotency-Key")
    }

    /// The connection ended before a word of the answer came.
    private static func isLost(_ error: any Error) -> Bool {
      switch error {
      case let error as HTTPClientError: error == .remoteConnectionClosed
      case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
      default: false
      }
    }

    /// The head of the answer, with a body that is still to come. Throws ``Setback``, ``DownloadError``, or what the client
    /// throws.
    func response(by clients: Clients, through proxies: Proxies) async throws -> HTTPClientResponse {
      var kind = Clients.Kind(
        proxy: try proxies.proxy(for: url), caCertificates: url.isSecure ? caCertificates : nil, decodes: decodes)
      kind.asksProxy = kind.proxy?.kind == .http && !url.isSecure
      var request = HTTPClientRequest(url: RequestTarget.url(on: url.origin, for: url.target))
      request.method = method
      request.headers = headers
      request.body = body()
      kind.streamsBodies = isStreamed
      if kind.asksProxy, let proxy = kind.proxy {
        request.url = RequestTarget.url(
          on: "http://\(proxy.hostAndPort)", for: "http://\(url.hostField)\(url.target)")
        if let credentials = proxy.credentials {
          request.headers.replaceOrAdd(name: "Proxy-Authorization", value: credentials.basic)
        }
      }
      let client = try clients.client(kind)
      let peer = kind.proxy.map { "the proxy \($0.hostAndPort)" } ?? url.hostAndPort
      let unwelcome = Setback.final(
        DownloadError(
          .refused, "\(peer) wants a user and a password, or others than it got, as in http://USER:PASSWORD@HOST"))
      let response: HTTPClientResponse
      do {
        do {
          response = try await client.execute(request, deadline: .distantFuture)
        } catch  where mayBeRepeated && Self.isLost(error) {
          // A connection that was kept for another request may have been closed just before this one, or be forgotten by
          // something on the way.
          request.body = body()
          response = try await client.execute(request, deadline: .distantFuture)
        }
      } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
        throw unwelcome
      } catch {
        throw DownloadError.connection(error, peer) ?? error
      }
      if kind.asksProxy, response.status == .proxyAuthenticationRequired { throw unwelcome }
      return response
    }
  }
#endif
