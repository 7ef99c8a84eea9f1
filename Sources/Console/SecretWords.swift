#if Shell
  import DurableJobsSystem
  import Foundation

  /// Which of a command's words say a secret, as far as the names beside them tell: a header's, an option's, a variable's.
  ///
  /// Rather too much is hidden. What no name tells of, as `mysql -pword` or `echo word`, is not known.
  enum SecretWords {
    /// The words of a command, without their secrets. `isLine`: the first is a line for a shell.
    static func hidden(in words: [String], isLine: Bool = false) -> [String] {
      var shown: [String] = []
      var option: Option?
      for (index, word) in words.enumerated() {
        let isScript = index == 0 ? isLine : index > 1 && words[index - 1].isOptionOfScript && words[index - 2].isShell
        let before = option
        option = nil
        if let before, before.isOf(word) {
          // As in `Authorization: Bearer VALUE`.
          if before == .secret, ["basic", "bearer"].contains(word.lowercased()) { option = .secret }
          shown.append(before.hiding(word))
        } else if isScript {
          shown.append(hidden(inLine: word))
        } else {
          option = Option(before: word) ?? (tellsOfSecret(words, index) ? .secret : nil)
          let isValue = index > 0 && word.hasPrefix("=") && word != "=" && isSecret(name: words[index - 1][...])
          shown.append(isValue ? "=" + hiddenSecret : hidden(in: word))
        }
      }
      return shown
    }

    /// Whether the word of that place, which is no option, says that the next one is a secret: `NAME value`, `NAME= value`,
    /// `NAME: value`, `NAME = value`.
    private static func tellsOfSecret(_ words: [String], _ index: Int) -> Bool {
      let word = words[index]
      if word.hasSuffix("=") || word.hasSuffix(":") {
        return isSecret(name: word.utf8.count > 1 ? word.dropLast() : index > 0 ? words[index - 1][...] : "")
      }
      return index > 0 && isSecret(bareName: word) && words.dropFirst(index + 1).first?.isValue == true
    }

    /// As in `aws configure set aws_secret_access_key VALUE`: a name of several parts of which the last tells of a secret,
    /// or one that is a password's. `token`, `key`, `auth` and the like alone are more often what a program is to do.
    private static func isSecret(bareName word: String) -> Bool {
      guard isSecret(name: word[...]), !word.hasPrefix("-"),
        let last = word.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber }).last
      else { return false }
      if ["password", "passwd", "passphrase", "passcode"].contains(last) { return true }
      let isOneOfParts = word.utf8.count > last.utf8.count && isSecret(name: last)
      return isOneOfParts || ["token", "secret"].contains { last != $0 && last.hasSuffix($0) }
    }

    /// A word that stands alone, with what it may have in it: `NAME=value`, `Name: value`, `--name=value`, JSON, or a line.
    /// `depth`: of so many options that each have the next one as their value.
    private static func hidden(in word: String, depth: Int = 0) -> String {
      guard depth < 8 else { return hiddenSecret }
      let word = word.utf8.contains(UInt8(ascii: "\"")) ? hidingMembers(of: word) : word
      guard let sign = word.utf8.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }) else {
        return word.hasSpaces ? hidden(inLine: word) : word
      }
      let (name, value) = (word[..<sign], word[word.index(after: sign)...])
      if word.hasPrefix("-") {
        if word[sign] == "=" {
          if let option = Option(before: String(name)) { return name + "=" + option.hiding(String(value), depth) }
          if name.hasPrefix("--") { return name + "=" + hidden(in: String(value), depth: depth + 1) }
          // Right after the option's letter, as in `-DNAME=value`.
          if isSecret(name: name.dropFirst(2)) { return "\(name)=\(hiddenSecret)" }
        }
        // Right after the option's letter, as curl takes it.
        if let (option, value) = Option.behindLetters(word), !value.isEmpty {
          return word[..<value.startIndex] + option.hiding(String(value), depth)
        }
        if Option(before: String(name)) == .secret { return "\(name):\(hiddenSecret)" }
      } else if !value.isEmpty, isSecret(name: name) {
        return word[sign] == "=" ? "\(name)=\(hiddenSecret)" : "\(name): \(hiddenSecret)"
      }
      guard word.hasSpaces else { return hidingFields(of: word) }
      let isOfFields = word.split { "&;,".contains($0) }.allSatisfy { $0.contains("=") || !String($0).hasSpaces }
      return hidden(inLine: isOfFields ? hidingFields(of: word) : word)
    }

    /// As in `{"user": "me", "password": "x"}`.
    private static func hidingMembers(of word: String) -> String {
      let bytes = word.utf8
      var text = ""
      var rest = word[...]
      var place = bytes.startIndex
      /// Behind the `"` that ends what begins at `begin`.
      func end(ofString begin: String.Index, atMost length: Int? = nil) -> String.Index? {
        var isEscaped = false
        for index in bytes[begin...].prefix(length ?? bytes.count).indices {
          if bytes[index] == UInt8(ascii: "\""), !isEscaped { return bytes.index(after: index) }
          isEscaped = bytes[index] == UInt8(ascii: "\\") && !isEscaped
        }
        return nil
      }
      func afterSpaces(_ index: String.Index) -> String.Index {
        bytes[index...].firstIndex { !" \t\r\n".utf8.contains($0) } ?? bytes.endIndex
      }
      while let quote = bytes[place...].firstIndex(of: UInt8(ascii: "\"")) {
        place = bytes.index(after: quote)
        guard let behind = end(ofString: place, atMost: 101), case let colon = afterSpaces(behind),
          colon < bytes.endIndex, bytes[colon] == UInt8(ascii: ":"),
          isSecret(name: word[place..<behind].dropLast())
        else { continue }
        let begin = afterSpaces(bytes.index(after: colon))
        guard begin < bytes.endIndex, !"{[".utf8.contains(bytes[begin]) else { continue }
        let isString = bytes[begin] == UInt8(ascii: "\"")
        place =
          isString
          ? end(ofString: bytes.index(after: begin)) ?? bytes.endIndex
          : bytes[begin...].firstIndex { ",]} \t\r\n".utf8.contains($0) } ?? bytes.endIndex
        text += rest[..<begin] + "\"\(hiddenSecret)\""
        rest = word[place...]
      }
      return text + rest
    }

    /// A word of fields, as in `a=1&client_secret=2` and `username=me,password=x`, or a text with URLs that have such: then only
    /// what stands behind a `?` or the like is a field. What may be the rest of a value goes with it.
    static func hidingFields(of text: String, inURLs: Bool = false) -> String {
      let bytes = text.utf8
      guard bytes.contains(UInt8(ascii: "=")) else { return text }
      let begins = Set((inURLs ? "?&;#" : "&;,").utf8)
      let ends = Set((inURLs ? "&# \t\r\n\"'<>" : "").utf8)
      var shown = ""
      var isHidden = false
      var place = bytes.startIndex
      while place < bytes.endIndex {
        let isBegin = begins.contains(bytes[place])
        let isEnd = ends.contains(bytes[place])
        let begin = isBegin || isEnd ? bytes.index(after: place) : place
        let end = bytes[begin...].firstIndex { begins.contains($0) || ends.contains($0) } ?? bytes.endIndex
        let sign = bytes[begin..<end].firstIndex(of: UInt8(ascii: "="))
        let name = sign.map { text[begin..<$0].drop(while: \.isWhitespace) } ?? ""
        if let sign, isBegin || !inURLs, !name.isEmpty, name.utf8.allSatisfy({ $0.isOfName || $0 == UInt8(ascii: "%") })
        {
          // Beside another field, that is no folder. Of options behind commas, a key is mostly a name.
          let isOption = isBegin && bytes[place] == UInt8(ascii: ",")
          isHidden =
            !(isOption && name == "key") && isSecret(name: inURLs ? name.unescaped : name, inQuery: inURLs)
            || name.lowercased() == "pwd" && bytes.contains { begins.contains($0) }
          let value = bytes.index(after: sign)
          shown += text[place..<value] + (isHidden && value < end ? hiddenSecret[...] : text[value..<end])
        } else if !isHidden || isEnd || begin == end {
          isHidden = isHidden && !isEnd
          shown += text[place..<end]
        }
        place = end
      }
      return shown
    }

    /// Of a header, a variable, a field; or in a URL's query, where more are. A variable may have a `+` behind it.
    static func isSecret(name: Substring, inQuery: Bool = false) -> Bool {
      let name = name.hasSuffix("+") ? name.dropLast() : name
      guard !name.isEmpty, name.utf8.count <= 100, name.utf8.allSatisfy(\.isOfName) else { return false }
      // As variables, those are folders.
      return (inQuery || !["pwd", "oldpwd"].contains(name.lowercased()))
        && SecretName.isOne(Array(name.utf8), inQuery: inQuery)
    }

    // MARK: Options

    /// What the word after an option is.
    fileprivate enum Option {
      case secret
      /// `user:password`
      case user
      /// `Name: value`
      case header

      init?(before word: String) {
        guard word.hasPrefix("-"), word.utf8.count <= 100 else { return nil }
        if let (option, value) = Self.behindLetters(word), value.isEmpty {
          self = option
          return
        }
        // Many programs write a long name with one dash.
        let name = word.dropFirst(word.hasPrefix("--") ? 2 : 1)
        let parts = name.lowercased().split { !$0.isLetter && !$0.isNumber }
        guard let last = parts.last, parts.first != "no", !["file", "stdin", "path", "jar"].contains(last) else {
          return nil
        }
        switch name.lowercased() {
        case "user", "proxy-user", "auth": self = .user
        case "header", "proxy-header": self = .header
        // Of a sort, a signature, a certificate: mostly a name.
        case "key": return nil
        default:
          guard isSecret(name: name) else { return nil }
          self = .secret
        }
      }

      /// curl's letter of such an option, which may stand behind letters that have no value, and what stands behind it. Without
      /// `a`, which others have more often: `rsync -au`.
      static func behindLetters(_ word: String) -> (option: Option, value: Substring)? {
        guard word.hasPrefix("-") else { return nil }
        let rest = word.dropFirst().drop { "#012346BGIJLMNORSZfgijklnpqsv".contains($0) }
        switch rest.first {
        case "u", "U": return (.user, rest.dropFirst())
        case "H": return (.header, rest.dropFirst())
        default: return nil
        }
      }

      /// Whether this can be its value, and is not what a shell reads, or another option.
      func isOf(_ word: String) -> Bool {
        !word.isOperator && (self == .secret || !word.hasPrefix("-"))
      }

      func hiding(_ word: String, _ depth: Int = 0) -> String {
        switch self {
        case .secret: return hiddenSecret
        case .header: return SecretWords.hidden(in: word, depth: depth + 1)
        case .user:
          guard !word.contains("://"), let colon = word.firstIndex(of: ":") else { return word }
          return word[...colon] + hiddenSecret
        }
      }
    }

    // MARK: Lines for a shell

    private static func hidden(inLine line: String) -> String {
      let words = ShellWords(line).words
      var text = ""
      var end = line.startIndex
      for (word, shown) in zip(words, hidden(in: words.map(\.text))) where word.text != shown {
        let mark = shown.contains("'") ? "\"" : shown.hasSpaces || shown.contains("\"") ? "'" : ""
        text += line[end..<word.place.lowerBound] + mark + shown + mark
        end = word.place.upperBound
      }
      return text + line[end...]
    }
  }

  extension String {
    /// Or what a program writes as such.
    fileprivate var hasSpaces: Bool {
      utf8.contains { " \t\n".utf8.contains($0) } || utf8.contains(UInt8(ascii: "\\")) && contains(/\\[nrt]/)
    }

    fileprivate var isOperator: Bool { utf8.count == 1 && ShellWords.operators.contains(utf8.first!) }

    fileprivate var isShell: Bool {
      let begin = utf8.lastIndex(of: UInt8(ascii: "/")).map { utf8.index(after: $0) } ?? startIndex
      return ["sh", "bash", "dash", "ksh", "zsh"].contains(self[begin...])
    }

    /// Whether it can be what a name before it has: no option, and nothing of a shell's alone.
    fileprivate var isValue: Bool { !hasPrefix("-") && utf8.contains { $0.isLetter || $0.isDigit } }

    fileprivate var isOptionOfScript: Bool {
      hasPrefix("-") && hasSuffix("c") && dropFirst().utf8.allSatisfy(\.isLetter)
    }
  }

  extension Substring {
    fileprivate var unescaped: Substring {
      utf8.contains(UInt8(ascii: "%")) ? Substring(String(self).removingPercentEncoding ?? "token") : self
    }
  }

  extension UInt8 {
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isOfName: Bool { isLetter || isDigit || "-_.[]".utf8.contains(self) }
  }
#endif
