#if HTTP
  import Foundation

  /// A file of headers, one a line. Empty lines say nothing.
  package enum HeaderFile {
    /// Throws ``DownloadError/Code/invalidDownload``, which tells of no value, for it may be a secret; or
    /// ``DownloadError/Code/noRoom``.
    package static func headers(_ path: String) throws -> [HTTPHeader] {
      func refuse(_ why: String) -> DownloadError {
        DownloadError(.invalidDownload, "no headers can be read from \(path): \(why)")
      }
      let data = try AttemptFile.read(path, orThrow: refuse("the file can't be read"))
      guard var text = String(validating: data, as: UTF8.self) else { throw refuse("it is no UTF-8") }
      if text.hasPrefix("\u{feff}") { text.removeFirst() }
      let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      return try lines.enumerated().compactMap { number, line in
        let line = line.trimmingCharacters(in: .whitespaces)
        guard !line.isEmpty else { return nil }
        guard let header = HTTPHeader(line: line) else { throw refuse("line \(number + 1) has no colon") }
        do {
          try header.validate()
        } catch let error as DownloadError {
          throw refuse("line \(number + 1): \(error.message)")
        }
        guard SecretNames.areWhole(in: header.value) else {
          throw refuse("line \(number + 1) names a secret in a way that can't be read; write {secret:NAME}")
        }
        return header
      }
    }
  }
#endif
