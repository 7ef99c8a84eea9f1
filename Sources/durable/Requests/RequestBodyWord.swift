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
      case (_?, _?): throw ValidationError("--data and --json-body are both the body; leave out one of them")
      case (let word?, nil):
        let file = word == "-" ? "-" : word.hasPrefix("@") ? String(word.dropFirst()) : nil
        self =
          file.map { .file($0, type: "application/octet-stream", option: "--data") }
          ?? .text(word, type: Self.formType)
      case (nil, let word?):
        let type = "application/json"
        if word.hasPrefix("@") || word == "-" {
          self = .file(word == "-" ? word : String(word.dropFirst()), type: type, option: "--json-body")
        } else {
          guard JSONGrammar(word.utf8) != nil else { throw ValidationError("--json-body: the text is no JSON") }
          self = .text(word, type: type)
        }
      }
      if case .file(let path, _, let option) = self, path != "-", access(path, R_OK) != 0 {
        throw ValidationError("\(option) @\(SystemError(path).description)")
      }
    }

    /// What is large is kept beside the store. Of one on a server that is nowhere where all workers can read it.
    func body(keptIn store: OpenStore) throws -> SendRequest.Body {
      let body = try copied(beside: store.store)
      guard store.isOnServer, let copy = body.copy else { return body }
      let folder = BodyFolder(of: store.store)
      defer { folder.remove(copy) }
      let type = body.type
      guard let data = folder.bytes(of: copy, atMost: SendRequest.Body.mostBytes) else {
        throw ValidationError(
          "the body is larger than 1 MB, and a copy on this machine could not be read by the workers of others; send it with a "
            + "store in a file, or put it where they can fetch it")
      }
      return .data(data, type: type)
    }

    private func copied(beside store: any JobStore) throws -> SendRequest.Body {
      switch self {
      case .none: return .none
      case .text(let text, let type): return .data(Data(text.utf8), type: type)
      case .file(let path, let type, let option):
        do {
          return path == "-"
            ? try .standardInput(type: type, copiedBeside: store)
            : try .file(URL(fileURLWithPath: path), type: type, copiedBeside: store)
        } catch let error as RequestError where error.isOfFullDisk {
          throw JobError(.diskFull, "the body can't be kept beside the store: \(error.message)", cause: error)
        } catch let error as RequestError {
          throw ValidationError("\(option): \(error.message)")
        }
      }
    }
  }
#endif
