#if Shell
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// JSON with its keys in the order in which they are written, and stored JSON passed on as it is.
  enum JSONText: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    case object([(String, JSONText)])
    case array([JSONText])
    case string(String)
    case int(Int64)
    case double(Double)
    case bool(Bool)
    case null
    /// Bytes that were stored: JSON as it is, anything else as `{"base64": "…"}`.
    case stored(Data)

    init(stringLiteral value: String) { self = .string(value) }
    init(dictionaryLiteral elements: (String, JSONText)...) { self = .object(elements) }

    static func optional<T>(_ value: T?, _ make: (T) -> JSONText) -> JSONText { value.map(make) ?? .null }
    static func date(_ date: Date?) -> JSONText { optional(date) { .string($0.iso8601) } }

    /// In one line.
    var text: String {
      switch self {
      case .object(let fields): "{" + fields.map { "\(Self.quote($0)):\($1.text)" }.joined(separator: ",") + "}"
      case .array(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
      case .string(let string): Self.quote(string)
      case .int(let number): "\(number)"
      case .double(let number): number.isFinite ? "\(number)" : "null"
      case .bool(let truth): "\(truth)"
      case .null: "null"
      case .stored(let data): Self.passOn(data)
      }
    }

    private static func passOn(_ data: Data) -> String {
      if (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil,
        let text = String(validating: data, as: UTF8.self)
      {
        // Line breaks are only between tokens in JSON, so a job stays in a line.
        return text.contains(where: \.isNewline) ? String(text.map { $0.isNewline ? " " : $0 }) : text
      }
      return JSONText.object([("base64", .string(data.base64EncodedString()))]).text
    }

    private static func quote(_ string: String) -> String {
      var result = "\""
      for scalar in string.unicodeScalars {
        switch scalar {
        case "\"": result += #"\""#
        case "\\": result += #"\\"#
        case "\n": result += #"\n"#
        case "\r": result += #"\r"#
        case "\t": result += #"\t"#
        default:
          if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
            result +=
              #"\u"# + String(repeating: "0", count: scalar.value < 16 ? 3 : 2) + String(scalar.value, radix: 16)
          } else {
            result.unicodeScalars.append(scalar)
          }
        }
      }
      return result + "\""
    }
  }

  extension JSONText {
    /// A job with the names that every command uses for it.
    init(_ job: JobSnapshot) {
      self = [
        "id": .int(job.id.rawValue), "queue": .string(job.queue), "kind": .string(job.kind),
        "key": .optional(job.key) { .string($0) }, "state": .string(job.state.rawValue),
        "priority": .int(Int64(job.priority.rawValue)), "attempt": .int(Int64(job.attempt)),
        "maxAttempts": .int(Int64(job.maxAttempts)), "crashes": .int(Int64(job.crashes)),
        "timeout": .optional(job.timeout) { .double($0.seconds) }, "createdAt": .date(job.createdAt),
        "runAt": .date(job.runAt), "startedAt": .date(job.startedAt), "finishedAt": .date(job.finishedAt),
        "progress": .optional(job.progress) {
          ["fraction": .double($0.fraction), "message": .optional($0.message) { .string($0) }]
        },
        "reason": .optional(job.reason) { .string($0) }, "payload": .optional(job.payload) { .stored($0) },
        "output": .optional(job.output) { .stored($0) },
        "errors": .array(
          job.failures.map {
            ["message": .string($0.message), "attempt": .int(Int64($0.attempt)), "at": .date($0.at)]
          }),
        "tags": .array(job.tags.sorted().map { .string($0) }),
      ]
    }

    init(_ counts: JobCounts) {
      self = .object(JobState.allCases.map { ($0.rawValue, .int(Int64(counts[$0]))) })
    }
  }
#endif
