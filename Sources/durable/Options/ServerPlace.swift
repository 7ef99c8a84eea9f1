#if Shell
  import ArgumentParser
  import Console
  import DurableJobsPostgres
  import Foundation

  /// Where a store on a server is, as people write it: a connection string of libpq's, which may have parameters of this program's
  /// own among the others.
  struct ServerPlace: Sendable {
    /// As it was given. It may have a password.
    let text: String
    /// What libpq gets of it.
    let connection: String
    /// The same as ``text``, to be typed again, but for passwords.
    let shown: String
    /// Whether ``text`` has a password, or another secret.
    let hasSecret: Bool
    /// Whether it leads to a transaction pooler.
    private(set) var isPooled = false
    /// Whether it names files by where it was typed: a worker elsewhere finds others, or none.
    private(set) var namesRelativePaths = false
    /// Nil for the usual one.
    private(set) var schema: String?

    private static let secrets: Set = [
      "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key",
    ]

    /// Parameters that name files. A `host` that is no whole path is a name to libpq.
    private static let files: Set = [
      "passfile", "servicefile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir",
    ]

    init(_ text: String) throws {
      let isURL = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
      let string = isURL ? ConnectionText(url: text) : ConnectionText(words: text)
      self.text = text
      connection = string.text { !$0.hasPrefix("durable_") }
      #if Postgres
        // libpq does not read the whole, which has parameters that it does not know.
        for text in [text, connection] { try PostgresStore.check(connectionString: text) }
      #endif
      shown = string.withoutPassword.text { !Self.secrets.contains($0) }
      hasSecret = shown != string.text { _ in true }
      namesRelativePaths = string.parameters.contains { name, value in
        let isSystems = (name, value) == ("sslrootcert", "system")
        return Self.files.contains(name) && !value.isEmpty && !value.hasPrefix("/") && !isSystems
      }
      for (name, value) in string.parameters where name.hasPrefix("durable_") {
        switch name {
        case "durable_pooled":
          switch value.lowercased() {
          case "yes", "true", "on", "1": isPooled = true
          case "no", "false", "off", "0": isPooled = false
          default: throw ValidationError("durable_pooled is '\(value)'; it can be yes or no")
          }
        case "durable_schema":
          #if Postgres
            try PostgresStore.check(schema: value)
          #endif
          schema = value
        default: throw ValidationError("a store has no \(name); there are durable_pooled and durable_schema")
        }
      }
    }

    #if Postgres
      /// What is told of it: no password, and nothing of how it is reached.
      var name: String {
        get throws {
          let name = try PostgresStore.describe(connection)
          return schema.map { "\(name)\(name.contains("?") ? "&" : "?")durable_schema=\($0)" } ?? name
        }
      }
    #endif
  }

  /// A connection string in its parts, in either of libpq's forms.
  private struct ConnectionText {
    /// What stands before the parameters.
    var head = ""
    /// Where it has the user's password.
    private var password: Range<String.Index>?
    /// Between them.
    var separator = " "
    /// Each as it was given.
    var parts: [(name: String, value: String, text: String)] = []

    var parameters: [(String, String)] { parts.map { ($0.name, $0.value) } }

    func text(where isWanted: (String) -> Bool) -> String {
      let wanted = parts.filter { isWanted($0.name) }.map(\.text).joined(separator: separator)
      return head.isEmpty || wanted.isEmpty ? head + wanted : "\(head)?\(wanted)"
    }

    /// `postgres://user:password@host/database?name=value&name=value`.
    init(url: String) {
      separator = "&"
      let user = URLUser(of: url)
      password = user?.password
      // A password may have a '?' in it.
      let begin = password?.upperBound ?? user?.name.upperBound ?? url.startIndex
      let mark = url[begin...].firstIndex(of: "?") ?? url.endIndex
      head = String(url[..<mark])
      parts = url[mark...].dropFirst().split(separator: "&").map { part in
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        func plain(_ text: Substring?) -> String { text.map { $0.removingPercentEncoding ?? String($0) } ?? "" }
        return (plain(pair.first), plain(pair.dropFirst().first), String(part))
      }
    }

    /// `name=value name='a value'`, with `\` before what would end a value. What is none has no parts, and is libpq's to refuse.
    init(words: String) {
      var rest = words[...]
      while case let part = rest.drop(while: \.isWhitespace), !part.isEmpty {
        rest = part
        let name = rest.prefix { $0 != "=" && !$0.isWhitespace }
        rest = rest[name.endIndex...].drop(while: \.isWhitespace)
        guard rest.popFirst() == "=" else {
          (head, parts) = (words, [])
          return
        }
        rest = rest.drop(while: \.isWhitespace)
        let isQuoted = rest.first == "'"
        if isQuoted { rest.removeFirst() }
        var value = ""
        while let next = rest.first, isQuoted ? next != "'" : !next.isWhitespace {
          rest.removeFirst()
          if next != "\\" { value.append(next) } else if let escaped = rest.popFirst() { value.append(escaped) }
        }
        if isQuoted { _ = rest.popFirst() }
        parts.append((String(name), value, String(part[..<rest.startIndex])))
      }
    }

    /// Without that of the user.
    var withoutPassword: ConnectionText {
      var copy = self
      if let password { copy.head.removeSubrange(head.utf8.index(before: password.lowerBound)..<password.upperBound) }
      return copy
    }
  }
#endif
