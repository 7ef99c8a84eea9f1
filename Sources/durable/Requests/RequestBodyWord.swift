#if Shell
  import ArgumentParser
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// What one types of the body of a request.
  enum RequestBodyWord {
    case none
    case text(String, type: String)
    /// `-` is standard input.
    case file(String, type: String, option: String)

    /// Of a text that is given as it is.
    static let formType = "application/x-www-form-urlencoded"

    init(data: String?, json: String?) throws {
      switch (data, json) {
      case (nil, nil): self = .none
      case (_?, _?): throw ValidationError("--data and --json are both the body; leave out one of them")
      case (let word?, nil):
        let file = word == "-" ? "-" : word.hasPrefix("@") ? String(word.dropFirst()) : nil
        self =
          file.map { .file($0, type: "application/octet-stream", option: "--data") }
          ?? .text(word, type: Self.formType)
      case (nil, let word?):
        let type = "application/json"
        if word.hasPrefix("@") || word == "-" {
          self = .file(word == "-" ? word : String(word.dropFirst()), type: type, option: "--json")
        } else {
          guard StoredJSON.isJSON(Data(word.utf8)) else { throw ValidationError("--json: the text is no JSON") }
          self = .text(word, type: type)
        }
      }
      if case .file(let path, _, let option) = self, path != "-", access(path, R_OK) != 0 {
        throw ValidationError("\(option) @\(SystemError(path).description)")
      }
    }

    /// What is large is kept beside the store.
    func body(keptIn store: any JobStore) throws -> SendRequest.Body {
      switch self {
      case .none: return .none
      case .text(let text, let type): return .data(Data(text.utf8), type: type)
      case .file(let path, let type, let option):
        do {
          return path == "-"
            ? try .standardInput(type: type, copiedBeside: store)
            : try .file(URL(fileURLWithPath: path), type: type, copiedBeside: store)
        } catch let error as RequestError {
          throw ValidationError("\(option): \(error.message)")
        }
      }
    }
  }
#endif
