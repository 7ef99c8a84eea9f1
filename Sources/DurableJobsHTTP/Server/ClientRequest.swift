#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOHTTP1

  /// A request to one server, byte by byte as it must be sent, through the proxy that leads there. Redirects are not
  /// followed.
  struct ClientRequest {
    var url: HTTPURL
    var method = HTTPMethod.GET
    var headers: HTTPHeaders
    /// Created again if the request is sent again.
    var body: () -> HTTPClientRequest.Body? = { nil }
    /// Whether the body is read while it is sent.
    var isStreamed = false
    var caCertificates: String?
    var decodes = false

    /// Called before it is sent once more: the first one may have arrived.
    var willRepeat: () -> Void = {}
    /// Called, on a thread of the client's, when its head goes out over that connection.
    var onDeparture: @Sendable (any Channel) -> Void = { _ in }
    /// Told how its body goes.
    var upload: Upload?

    /// Whether it may arrive twice without harm: RFC 9110, section 9.2.2. The job repeats others, and counts that.
    private var mayBeRepeated: Bool {
      [.GET, .HEAD, .PUT, .DELETE, .OPTIONS].contains(method) || headers.contains(name: "Idempotency-Key")
    }

    /// The head of the answer, whose body is still to come. Throws ``Setback``, ``DownloadError``, or the client's
    /// errors.
    func response(by clients: Clients, through proxies: Proxies) async throws -> HTTPClientResponse {
      var kind = Clients.Kind(
        proxy: try proxies.proxy(for: url), caCertificates: url.isSecure ? caCertificates : nil, decodes: decodes)
      kind.asksProxy = kind.proxy?.kind == .http && !url.isSecure
      let departure = RequestTarget.expect(RequestTarget.Departure(onHead: onDeparture, upload: upload))
      defer { RequestTarget.forget(departure) }
      var request = HTTPClientRequest(url: RequestTarget.url(on: url.origin, for: url.target, departure))
      request.method = method
      request.headers = headers
      request.body = body()
      kind.streamsBodies = isStreamed
      if kind.asksProxy, let proxy = kind.proxy {
        request.url = RequestTarget.url(
          on: "http://\(proxy.hostAndPort)", for: "http://\(url.hostField)\(url.target)", departure)
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
        response = try await answer(to: request, by: client)
      } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
        throw unwelcome
      } catch let error as RequestError {
        // Of its body, which the client was reading.
        throw error
      } catch {
        throw DownloadError.connection(error, peer) ?? error
      }
      if kind.asksProxy, response.status == .proxyAuthenticationRequired { throw unwelcome }
      return response
    }

    /// A connection that was kept from another request may have been closed just before this one, or forgotten by
    /// something on the way: then the request is sent over another, once. So is one that met a connection's end unsent.
    private func answer(to request: HTTPClientRequest, by client: HTTPClient) async throws -> HTTPClientResponse {
      do {
        do {
          return try await client.execute(request, deadline: .distantFuture)
        } catch let error where DownloadError.isUnsent(error) || mayBeRepeated && KeptConnection.isLost(error) {
          if !DownloadError.isUnsent(error) { willRepeat() }
          var request = request
          request.body = body()
          return try await client.execute(request, deadline: .distantFuture)
        }
      } catch let lost as KeptConnection.Lost {
        throw lost.cause
      }
    }
  }
#endif
