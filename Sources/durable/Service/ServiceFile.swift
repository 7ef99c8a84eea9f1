#if Shell
  import Console
  import Foundation

  /// What tells the system to have a worker after each log-in: a user unit of systemd, or an agent of launchd.
  struct ServiceFile: Equatable {
    /// Of several on one machine.
    var name: String
    /// The program and its arguments.
    var words: [String]
    /// Where launchd has its lines written; systemd has a journal.
    var log: String

    // MARK: systemd

    /// As in "durable.service".
    var unitName: String { "\(name).service" }

    /// It is ended as Ctrl-C ends a worker. What runs then goes back, and its commands with it.
    var unit: String {
      """
      [Unit]
      Description=Worker of durable jobs (\(name))
      Documentation=man:durable(1)

      [Service]
      ExecStart=\(words.map(Self.unitWord).joined(separator: " "))
      Restart=on-failure
      RestartSec=5
      RestartPreventExitStatus=\(ExitStatus.usage.rawValue) \(ExitStatus.storeNeedsPerson.rawValue)
      KillMode=mixed
      TimeoutStopSec=30

      [Install]
      WantedBy=default.target

      """
    }

    /// A word in quotes, in which systemd reads escapes, `%` and `$`.
    static func unitWord(_ word: String) -> String {
      var result = "\""
      for scalar in word.unicodeScalars {
        switch scalar {
        case "\"": result += #"\""#
        case "\\": result += #"\\"#
        case "%": result += "%%"
        case "$": result += "$$"
        case "\n": result += #"\n"#
        case _ where scalar.value < 0x20:
          result += #"\x"# + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        default: result.unicodeScalars.append(scalar)
        }
      }
      return result + "\""
    }

    // MARK: launchd

    var label: String { "durable-jobs.\(name)" }

    /// It is started anew unless it was stopped in order.
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
          </array>
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
