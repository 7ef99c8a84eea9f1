/// The names beside which a secret stands: of a header, an option, a variable, a field.
package enum SecretName {
  /// Whether a name, in bytes, is one; in a URL's query there are more.
  package static func isOne(_ name: [UInt8], inQuery: Bool = false) -> Bool {
    let bytes = name.map { isLetter($0) ? $0 | 0x20 : $0 }
    return speaking.contains { part in
      bytes.count >= part.count && (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
    }
      || bytes.split { !isLetter($0) && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        .contains { words.contains(Array($0)) || inQuery && wordsOfQuery.contains(Array($0)) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

  // In bytes: searching in characters takes fifty times as long, and lines may be long.
  private static let speaking = [
    "authoriz", "cookie", "credential", "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey",
    "accesskey", "signature", "sessid", "sessionid",
  ].map { Array($0.utf8) }
  private static let words = Set(["auth", "bearer", "key", "pass", "pwd"].map { Array($0.utf8) })
  private static let wordsOfQuery = Set(
    [
      "assertion", "code", "hmac", "jwt", "otp", "pin", "psw", "pw", "samlresponse", "session", "sid", "sig", "sign",
      "ticket", "totp",
    ].map { Array($0.utf8) })
}
