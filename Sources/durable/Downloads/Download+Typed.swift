#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  extension Download {
    /// In a line, without what may be a secret.
    var title: String { title(in: FileManager.default.currentDirectoryPath) }

    /// Its folder is told to who is not in it, and its name if it is not the URL's. They stand first: a line is cut at its end.
    func title(in here: String) -> String {
      func short(_ text: String) -> String {
        SystemText(text.count > 24 ? "…" + text.suffix(23) : text).shellQuoted
      }
      var words = ["get"]
      if folder != here {
        words += ["-o", short(folder.hasPrefix(here + "/") ? String(folder.dropFirst(here.count + 1)) : folder)]
      }
      var nameless = self
      nameless.name = nil
      if let name, name != nameless.expectedName { words += ["-O", short(name)] }
      return (words + [url.withoutCredentials.withoutPasswords]).joined(separator: " ")
    }

    /// For everybody's eyes: without a password in its URL, and without the values of its headers.
    var withoutSecrets: Download {
      var copy = self
      copy.url = URL(string: url.absoluteString.withoutPasswords) ?? url
      for index in headers.indices { copy.headers[index].value = hiddenSecret }
      return copy
    }

    /// The command line that asks for it, secrets and all: of one ``withoutSecrets``, for everybody.
    var typed: String {
      func quoted(_ text: String) -> String { SystemText(text).shellQuoted }
      var words = ["durable", "get", quoted(url.absoluteString), "-o", quoted(folder)]
      if let name { words += ["-O", quoted(name)] }
      if let sha256 { words += ["--sha256", sha256] }
      if let size { words += ["--size", "\(size)"] }
      for header in headers { words += ["--header", quoted("\(header.name): \(header.value)")] }
      if let caCertificates { words += ["--cacert", quoted(caCertificates)] }
      if overwrites { words.append("--overwrite") }
      if acceptsUnknownLength { words.append("--accept-unknown-length") }
      if skipsExisting { words.append("--skip-existing") }
      if keepsServerTime { words.append("--remote-time") }
      return words.joined(separator: " ")
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
#endif
