#if Shell
  import Console
  import DurableJobsProcess

  /// What to type to go on: a command line as it was typed, but for what others should not read of it on a screen or in a
  /// log: passwords in URLs and the values of headers.
  struct CommandToRepeat {
    /// Nil if it can't be typed: what it read from standard input is gone.
    let text: String?
    /// What is not shown and has to be given again, as in "the password".
    let hidden: [String]

    /// The arguments, without the program's name. `isTypable` is whether they are all that was asked for.
    init(_ arguments: [SystemText], isTypable: Bool = true) {
      var words: [SystemText] = [SystemText("durable")]
      var hidesPassword = false
      var hidesSignature = false
      var hidesHeaders = false
      var rest = arguments[...]
      func visible(_ word: SystemText) -> SystemText {
        guard word.display.contains("://") else { return word }
        let named = word.display.withoutCredentials
        if named != word.display { hidesPassword = true }
        let shown = named.withoutPasswords
        if shown != named { hidesSignature = true }
        return SystemText(shown)
      }
      // A store's user stays: as another one, one goes on elsewhere, or nowhere.
      func visible(store word: SystemText) -> SystemText {
        guard case .server(let place)? = try? StorePlace(word.display) else { return visible(word) }
        if place.hasSecret { hidesPassword = true }
        return SystemText(place.shown)
      }
      while let word = rest.popFirst() {
        let text = word.display
        if text == "--" {
          // What follows is no option.
          words.append(word)
          while let word = rest.popFirst() { words.append(visible(word)) }
        } else if text == "--store" {
          guard let value = rest.popFirst() else { break }
          words += [word, visible(store: value)]
        } else if text.hasPrefix("--store=") {
          let value = visible(store: SystemText(String(text.dropFirst("--store=".count))))
          words.append(SystemText("--store=\(value.display)"))
        } else if text == "-H" || text == "--header" {
          guard let value = rest.popFirst() else { break }
          if Self.isFile(value.display) { words += [word, value] } else { hidesHeaders = true }
        } else if text.first == "-", text.last == "H", text.dropFirst().allSatisfy(\.isLetter) {
          // `-qH VALUE`
          guard rest.popFirst() != nil else { break }
          hidesHeaders = true
        } else if let prefix = ["--header=", "-H=", "-H"].first(where: { text.hasPrefix($0) }) {
          if Self.isFile(text.dropFirst(prefix.count)) { words.append(word) } else { hidesHeaders = true }
        } else {
          words.append(visible(word))
        }
      }
      let line = words.map(\.shellQuoted).joined(separator: " ")
      text = isTypable && line.utf8.count <= 500 ? line : nil
      hidden =
        (hidesPassword ? ["the password"] : []) + (hidesSignature ? ["the signature"] : [])
        + (hidesHeaders ? ["the headers"] : [])
    }

    /// Headers that come from a file are no secret here.
    private static func isFile(_ header: some StringProtocol) -> Bool { header.hasPrefix("@") && header != "@-" }

    /// The sentence for a person. `work` is what else goes on, if the command can't be shown.
    func hint(or work: String) -> String {
      guard let text else { return "Go on with the same command, or with: \(work)" }
      guard !hidden.isEmpty else { return "Go on with: \(text)" }
      return "Go on with: \(text) (and \(hidden.joined(separator: " and ")) again, not shown here)"
    }
  }
#endif
