#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  extension Download {
    /// In a line, without what may be a secret.
    var title: String { "get \(url.withoutCredentials)" }

    /// The command line that asks for it, but for what may be a secret: credentials and the values of headers.
    var typed: String {
      func quoted(_ text: String) -> String { SystemText(text).shellQuoted }
      var words = ["durable", "get", quoted(url.withoutCredentials), "-o", quoted(folder)]
      if let name { words += ["-O", quoted(name)] }
      if let sha256 { words += ["--sha256", sha256] }
      if let size { words += ["--size", "\(size)"] }
      for header in headers { words += ["--header", quoted("\(header.name): ***")] }
      if let caCertificates { words += ["--cacert", quoted(caCertificates)] }
      if overwrites { words.append("--overwrite") }
      if skipsExisting { words.append("--skip-existing") }
      if keepsServerTime { words.append("--remote-time") }
      return words.joined(separator: " ")
    }

    /// What to call it until the server has said.
    var expectedName: String {
      if let name { return name }
      let last = url.lastPathComponent
      return last.isEmpty || last == "/" ? url.host() ?? url.absoluteString : last
    }

    /// The download of a job; nil if it is of another kind, or its payload is none.
    init?(_ job: JobSnapshot) {
      guard job.kind == Self.kind, let payload = job.payload,
        let download = try? JSONDecoder().decode(Self.self, from: payload)
      else { return nil }
      self = download
    }
  }

  extension DownloadedFile {
    /// Its last name.
    var name: String { (path as NSString).lastPathComponent }

    /// What the download of a job brought; nil if it is no download, or brought nothing.
    init?(_ job: JobSnapshot) {
      guard job.kind == Download.kind, let output = job.output,
        let file = try? JSONDecoder().decode(Self.self, from: output)
      else { return nil }
      self = file
    }
  }

  extension JobSnapshot {
    /// This job without what may be a secret in the payload of a download: credentials and the values of headers.
    var withoutSecrets: JobSnapshot {
      guard var download = Download(self) else { return self }
      download.headers = download.headers.map { Download.Header($0.name, "***") }
      download.url = URL(string: download.url.withoutCredentials) ?? download.url
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      var job = self
      job.payload = try? encoder.encode(download)
      return job
    }
  }

  extension URL {
    /// For who may read it.
    var withoutCredentials: String { absoluteString.withoutCredentials }
  }

  extension String {
    /// The text of a URL, or of what should be one, without the user and the password in it.
    var withoutCredentials: String {
      let authority = range(of: "//")?.upperBound ?? startIndex
      guard let at = self[authority...].prefix(while: { !"/?#".contains($0) }).lastIndex(of: "@") else { return self }
      return String(self[..<authority]) + self[index(after: at)...]
    }
  }
#endif
