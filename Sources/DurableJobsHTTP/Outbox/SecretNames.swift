#if HTTP
  import Foundation

  /// The names of secrets in a text, as in `Bearer {secret:TOKEN}`. No shell takes that for anything of its own, nor is it
  /// JSON.
  enum SecretNames {
    static func all(in text: String) -> [String] { text.matches(of: pattern).map { String($0.output.1) } }

    /// Whether each is written as it should be.
    static func areWhole(in text: String) -> Bool { !text.replacing(pattern, with: "").contains("{secret:") }

    /// With what `values` has for each.
    static func filled(_ text: String, with values: [String: String]) -> String {
      text.replacing(pattern) { values[String($0.output.1)] ?? String($0.output.0) }
    }

    private static var pattern: Regex<(Substring, Substring)> { /\{secret:([A-Za-z0-9_.\-]+)\}/ }
  }

  extension HTTPHeader {
    /// Those that its value names.
    package var secretNames: [String] { SecretNames.all(in: value) }
  }
#endif
