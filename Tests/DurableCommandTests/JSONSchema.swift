#if Shell
  import DurableJobs
  import Foundation

  /// As much of JSON Schema as the page about JSON uses.
  struct JSONSchema: @unchecked Sendable {
    // Checked by hand: these are values of JSON, which nobody changes.
    private let definitions: [String: Any]
    /// The definitions that something was held against, and the properties that had a value, as `job.progress.fraction`.
    let seen = Lock<Set<String>>([])

    /// The one of a page: its block of JSON.
    init(page: String) throws {
      let text = try String(contentsOfFile: page, encoding: .utf8)
      guard let start = text.range(of: "```json\n"),
        let end = text.range(of: "```", range: start.upperBound..<text.endIndex),
        let whole = try JSONSerialization.jsonObject(with: Data(text[start.upperBound..<end.lowerBound].utf8))
          as? [String: Any],
        let definitions = whole["$defs"] as? [String: Any]
      else { throw CocoaError(.fileReadCorruptFile) }
      self.definitions = definitions
    }

    /// All that can be ``seen``.
    var places: Set<String> {
      func places(in schema: Any?, at place: String) -> [String] {
        guard let schema = schema as? [String: Any] else { return [] }
        let parts = [schema["items"]].compactMap(\.self) + (schema["anyOf"] as? [Any] ?? [])
        return parts.flatMap { places(in: $0, at: place) }
          + (schema["properties"] as? [String: Any] ?? [:]).flatMap { key, schema in
            ["\(place).\(key)"] + places(in: schema, at: "\(place).\(key)")
          }
      }
      return Set(definitions.flatMap { [$0] + places(in: $1, at: $0) })
    }

    /// What is wrong with a value, by that definition, with the path to it.
    func complaints(_ value: Any, _ name: String) -> [String] {
      complaints(value, ["$ref": "#/$defs/\(name)"], name, at: name)
    }

    /// `place` is where the schema stands.
    private func complaints(_ value: Any, _ schema: [String: Any], _ path: String, at place: String) -> [String] {
      if let reference = schema["$ref"] as? String {
        let name = String(reference.dropFirst("#/$defs/".count))
        guard let schema = definitions[name] as? [String: Any] else { return ["\(path): there is no \(reference)"] }
        seen.withLock { _ = $0.insert(name) }
        return complaints(value, schema, path, at: name)
      }
      if let any = schema["anyOf"] as? [[String: Any]] {
        let all = any.map { complaints(value, $0, path, at: place) }
        return all.contains { $0.isEmpty } ? [] : all.flatMap { $0 }
      }
      var found: [String] = []
      if let names = (schema["type"] as? [String]) ?? (schema["type"] as? String).map({ [$0] }),
        !names.contains(where: { Self.isA(value, $0) })
      {
        found.append("\(path) is \(value), and not of \(names)")
      }
      if let constant = schema["const"] as? String, value as? String != constant {
        found.append("\(path) is not \(constant)")
      }
      if let choices = schema["enum"] as? [String], !((value as? String).map { choices.contains($0) } ?? false) {
        found.append("\(path) is \(value), and none of \(choices)")
      }
      if let pattern = schema["pattern"] as? String, let text = value as? String,
        text.range(of: pattern, options: .regularExpression) == nil
      {
        found.append("\(path) is '\(text)', and not as \(pattern)")
      }
      if let items = schema["items"] as? [String: Any], let array = value as? [Any] {
        for (index, item) in array.enumerated() { found += complaints(item, items, "\(path)[\(index)]", at: place) }
      }
      if let object = value as? [String: Any] {
        for key in schema["required"] as? [String] ?? [] where object[key] == nil {
          found.append("\(path).\(key) is missing")
        }
        let properties = schema["properties"] as? [String: Any] ?? [:]
        for (key, value) in object {
          if let property = properties[key] as? [String: Any] {
            if !(value is NSNull) { seen.withLock { _ = $0.insert("\(place).\(key)") } }
            found += complaints(value, property, "\(path).\(key)", at: "\(place).\(key)")
          } else if let others = schema["additionalProperties"] as? [String: Any] {
            found += complaints(value, others, "\(path).\(key)", at: place)
          } else if schema["additionalProperties"] as? Bool == false {
            found.append("\(path).\(key) is not in the schema")
          }
        }
      }
      return found
    }

    private static func isA(_ value: Any, _ name: String) -> Bool {
      if value is NSNull { return name == "null" }
      switch name {
      case "object": return value is [String: Any]
      case "array": return value is [Any]
      case "string": return value is String
      default: break
      }
      guard let number = value as? NSNumber, !(value is String) else { return false }
      let isBoolean = String(cString: number.objCType) == "c"
      switch name {
      case "boolean": return isBoolean
      case "integer": return !isBoolean && number.doubleValue == number.doubleValue.rounded()
      case "number": return !isBoolean
      default: return false
      }
    }
  }
#endif
