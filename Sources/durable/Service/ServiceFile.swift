#if Shell
  import Console
  import Foundation

  /// What tells the system to have a worker after each log-in: a user unit of systemd, or an agent of launchd.
  struct ServiceFile: Equatable {
    /// Of several on one machine.
    var name: String
    /// The program and its arguments.
    var words: [String]
    /// Where it works, if its words name files from there.
    var folder: String?
    /// Where launchd has its lines written; systemd has a journal.
    var log: String

    // MARK: systemd

    /// As in "durable.service".
    var unitName: String { "\(name).service" }

    /// It is ended as Ctrl-C ends a worker. What runs then goes back, and its commands with it. One of these that the system
    /// kills for want of memory has failed, and the others go on.
    var unit: String {
      """
      [Unit]
      \(Self.description(of: name))
      Documentation=man:durable(1)

      [Service]
      ExecStart=\(words.enumerated().map { Self.unitWord($1, isProgram: $0 == 0) }.joined(separator: " "))\(unitFolder)
      Restart=on-failure
      RestartSec=5
      RestartPreventExitStatus=\(ExitStatus.usage.rawValue) \(ExitStatus.storeNeedsPerson.rawValue)
      KillMode=mixed
      OOMPolicy=continue
      TimeoutStopSec=30

      [Install]
      WantedBy=default.target

      """
    }

    /// Whether a process of these control groups, as in `/proc/self/cgroup`, is the unit's, and would be ended with it.
    func holds(groups: String) -> Bool {
      groups.split(whereSeparator: { "/\n".contains($0) }).contains { $0 == unitName }
    }

    /// A line of its own, which has no quotes.
    private var unitFolder: String {
      folder.map { "\nWorkingDirectory=\($0.replacing("%", with: "%%").replacing("\n", with: "\\n"))" } ?? ""
    }

    /// Whether a unit, or an agent, of its name is one that this wrote, and nobody's own.
    func isOurs(_ text: String) -> Bool {
      text.split(separator: "\n").contains { $0 == Self.description(of: name) }
        || text.contains("<string>\(label)</string>")
    }

    private static func description(of name: String) -> String { "Description=Worker of durable jobs (\(name))" }

    /// A word in quotes, in which systemd reads escapes and `%`, and `$` unless it is the program's.
    private static func unitWord(_ word: String, isProgram: Bool) -> String {
      var result = "\""
      for scalar in word.unicodeScalars {
        switch scalar {
        case "\"": result += #"\""#
        case "\\": result += #"\\"#
        case "%": result += "%%"
        case "$" where !isProgram: result += "$$"
        case "\n": result += #"\n"#
        case _ where scalar.value < 0x20:
          result += #"\x"# + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        default: result.unicodeScalars.append(scalar)
        }
      }
      return result + "\""
    }

    // MARK: launchd

    var label: String { Self.labelPrefix + name }

    /// Whether this process is such an agent's. launchd starts it again for any code but 0, also where that is of no help.
    static var isAgent: Bool {
      ProcessInfo.processInfo.environment["XPC_SERVICE_NAME"]?.hasPrefix(labelPrefix) == true
    }

    private static let labelPrefix = "durable-jobs."

    /// It is started anew unless it was stopped in order, or can do nothing without a person.
    var agent: String {
      func element(_ text: String) -> String {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return "<string>\(escaped)</string>"
      }
      return """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
          <key>Label</key>
          \(element(label))
          <key>ProgramArguments</key>
          <array>
            \(words.map(element).joined(separator: "\n    "))
          </array>\(folder.map { "\n  <key>WorkingDirectory</key>\n  \(element($0))" } ?? "")
          <key>RunAtLoad</key>
          <true/>
          <key>KeepAlive</key>
          <dict>
            <key>SuccessfulExit</key>
            <false/>
          </dict>
          <key>ExitTimeOut</key>
          <integer>30</integer>
          <key>StandardOutPath</key>
          \(element(log))
          <key>StandardErrorPath</key>
          \(element(log))
        </dict>
        </plist>

        """
    }
  }
#endif
