#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  extension SendRequest {
    /// In a line.
    var title: String { "send \(self)".withoutPasswords }

    /// For everybody's eyes: of the values of its headers only the names of secrets.
    var withoutSecrets: SendRequest {
      var copy = self
      copy.url = URL(string: url.absoluteString.withoutPasswords) ?? url
      for index in headers.indices { copy.headers[index].value = headers[index].visibleValue }
      return copy
    }

    /// The command line that asks for it, but for its key: of one ``withoutSecrets``, for everybody.
    var typed: String {
      func quoted(_ text: String) -> String { SystemText(text).shellQuoted }
      var words = ["durable", "send", method.rawValue, quoted(url.absoluteString)]
      for header in headers { words += ["--header", quoted("\(header.name): \(header.value)")] }
      for path in headerFiles { words += ["--header", quoted("@\(path)")] }
      if let (option, word) = body.typed { words += [option, quoted(word)] }
      if idempotencyKey == nil { words.append("--no-idempotency-key") }
      if let caCertificates { words += ["--cacert", quoted(caCertificates)] }
      return words.joined(separator: " ")
    }

    /// The request of a job; nil if it is of another kind, or its payload is none.
    init?(_ job: JobSnapshot) {
      guard job.kind == Self.kind, let payload = job.payload,
        let request = try? JSONDecoder().decode(Self.self, from: payload)
      else { return nil }
      self = request
    }

    /// What `show` tells of it besides.
    var facts: [(String, String)] {
      var facts: [(String, String)] = []
      if let idempotencyKey { facts.append(("header", "Idempotency-Key: \(idempotencyKey)")) }
      let type = typeSent.map { " of \($0)" } ?? ""
      if let bytes = body.bytes {
        facts.append(("body", "\(Int64(bytes.count).asBytes)\(type)\(bytes.isEmpty ? "" : ": \(bytes.asExcerpt())")"))
      } else if let file = body.fileInPlace ?? (body.copy == nil ? nil : "a copy of a file") {
        facts.append(("body", "\(file)\(type.isEmpty ? "" : ",")\(type)"))
      }
      return facts
    }

    /// A header goes before the type of the body. Nil if it can't be told: its value is hidden, or in a file.
    private var typeSent: String? {
      guard let header = headers.last(where: { $0.name.lowercased() == "content-type" }) else {
        return headerFiles.isEmpty ? body.type : nil
      }
      return header.value == hiddenSecret ? nil : header.value
    }
  }

  extension SendRequest.Body {
    /// The option and its word. What can't be typed stands in a file that has no name any more.
    fileprivate var typed: (String, String)? {
      let isJSON = type == "application/json"
      let option = isJSON ? "--json-body" : "--data"
      if let fileInPlace { return (option, "@\(fileInPlace)") }
      guard copy != nil || bytes != nil else { return nil }
      guard let text = bytes.flatMap({ String(validating: $0, as: UTF8.self) }), text.utf8.count <= 500,
        isJSON || type == RequestBodyWord.formType && !text.hasPrefix("@") && text != "-"
      else { return (option, "@FILE") }
      return (option, text)
    }
  }

  extension HTTPHeader {
    var isCredential: Bool { ["authorization", "proxy-authorization", "cookie"].contains(name.lowercased()) }

    fileprivate var visibleValue: String {
      guard !secretNames.isEmpty else { return hiddenSecret }
      let names = secretNames.map { "{secret:\($0)}" }.joined(separator: " ")
      // As in "Bearer {secret:TOKEN}".
      let scheme = value.prefix { $0.isASCII && $0.isLetter }
      return scheme.count <= 10 && value == "\(scheme) \(names)" ? value : names
    }
  }

  extension HTTPAnswer {
    /// As in "201, 34 B of text/plain".
    var title: String {
      "\(status), \(Int64(body.count).asBytes)\(isCut ? " and more" : "")\(self["Content-Type"].map { " of \($0)" } ?? "")"
    }

    /// For everybody's eyes: a `Location` may have a password, or a token.
    var withoutSecrets: HTTPAnswer {
      var copy = self
      for index in headers.indices {
        copy.headers[index].value = headers[index].value.withoutPasswords.withoutSecretFields
      }
      return copy
    }

    /// What the server answered to a job's request; nil if it is none, or has no answer.
    init?(_ job: JobSnapshot) {
      guard job.kind == SendRequest.kind, let output = job.output,
        let answer = try? JSONDecoder().decode(Self.self, from: output)
      else { return nil }
      self = answer
    }
  }

  extension Outbox {
    /// As this program sends: secrets are variables of its environment.
    convenience init(
      of store: any JobStore, netrc: URL?, onEvent: @escaping @Sendable (JobContext, SendRequest, Event) -> Void
    ) {
      self.init(
        store: store, netrc: netrc, secret: { ProcessInfo.processInfo.environment[$0] }, onEvent: onEvent)
    }
  }
#endif
