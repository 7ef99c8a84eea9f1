#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsSQLite
  import Foundation

  extension SendRequest {
    /// In a line.
    var title: String { "send \(self)" }

    /// For everybody's eyes: of the values of its headers only the names of secrets.
    var withoutSecrets: SendRequest {
      var copy = self
      for index in headers.indices { copy.headers[index].value = headers[index].visibleValue }
      return copy
    }

    /// The request of a job; nil if it is of another kind, or its payload is none.
    init?(_ job: JobSnapshot) {
      guard job.kind == Self.kind, let payload = job.payload,
        let request = try? JSONDecoder().decode(Self.self, from: payload)
      else { return nil }
      self = request
    }

    /// What `show` tells of it. Of one ``withoutSecrets``, for everybody.
    var facts: [(String, String)] {
      var facts = headers.map { ("header", "\($0.name): \($0.value)") }
      if let idempotencyKey { facts.append(("header", "Idempotency-Key: \(idempotencyKey)")) }
      facts += headerFiles.map { ("headers", "in \($0)") }
      if let bytes = body.bytes {
        facts.append(("body", "\(Int64(bytes.count).asBytes)\(body.typeWords): \(bytes.asExcerpt())"))
      } else if let file = body.fileInPlace ?? (body.copy == nil ? nil : "a copy of a file") {
        facts.append(("body", "\(file)\(body.typeWords.isEmpty ? "" : ",")\(body.typeWords)"))
      }
      return facts
    }
  }

  extension SendRequest.Body {
    fileprivate var typeWords: String { type.map { " of \($0)" } ?? "" }
  }

  extension HTTPHeader {
    var isCredential: Bool { ["authorization", "proxy-authorization", "cookie"].contains(name.lowercased()) }

    fileprivate var visibleValue: String {
      secretNames.isEmpty ? hiddenSecret : secretNames.map { "{secret:\($0)}" }.joined(separator: " ")
    }
  }

  extension HTTPAnswer {
    /// As in "201, 34 B of text/plain".
    var title: String {
      "\(status), \(Int64(body.count).asBytes)\(isCut ? " and more" : "")\(self["Content-Type"].map { " of \($0)" } ?? "")"
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
      of store: SQLiteStore, netrc: URL?, onEvent: @escaping @Sendable (JobContext, SendRequest, Event) -> Void
    ) {
      self.init(
        store: store, netrc: netrc, secret: { ProcessInfo.processInfo.environment[$0] }, onEvent: onEvent)
    }
  }
#endif
