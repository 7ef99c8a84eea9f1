#if HTTP
  import Foundation

  /// Bytes in JSON: a string where they are UTF-8, else `{"base64": "…"}`.
  struct TextOrBytes: Codable {
    var data: Data

    private enum CodingKeys: CodingKey { case base64 }

    init(data: Data) { self.data = data }

    init(from decoder: any Decoder) throws {
      if let text = try? decoder.singleValueContainer().decode(String.self) {
        data = Data(text.utf8)
      } else {
        data = try decoder.container(keyedBy: CodingKeys.self).decode(Data.self, forKey: .base64)
      }
    }

    func encode(to encoder: any Encoder) throws {
      if let text = String(validating: data, as: UTF8.self) {
        var container = encoder.singleValueContainer()
        try container.encode(text)
      } else {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(data, forKey: .base64)
      }
    }
  }
#endif
