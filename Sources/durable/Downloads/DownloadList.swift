#if Shell
  import ArgumentParser
  import DurableJobs
  import Foundation

  /// A list of URLs, one a line. Empty lines and those that begin with `#` say nothing.
  struct DownloadList {
    /// Each with its place, as in "list.txt:7".
    private(set) var urls: [(url: URL, place: String)] = []
    /// What is wrong with lines, as in "list.txt:7: …".
    private(set) var broken: [String] = []

    init(_ lines: TextLines) {
      for line in lines where line.text?.hasPrefix("#") != true {
        do {
          guard let text = line.text else { throw ValidationError("this line is no UTF-8") }
          urls.append((try DownloadWords.url(text), line.place))
        } catch {
          broken.append("\(line.place): \((error as? ValidationError)?.message ?? error.briefly)")
        }
      }
    }
  }
#endif
