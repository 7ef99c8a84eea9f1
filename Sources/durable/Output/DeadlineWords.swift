#if Shell
  import Console
  import Foundation

  extension String {
    /// A store says by when a job had to end in UTC, as machines in all zones may read it. Here it is told as all other times.
    var withLocalDeadline: String {
      guard contains("its deadline has passed: ") else { return self }
      return replacing(/(its deadline has passed: it had not \w+ by )([0-9T:.-]+Z)/) { match in
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = try? style.parse(String(match.2)) else { return String(match.0) }
        return String(match.1) + date.forPeople.dropFirst("at ".count)
      }
    }
  }
#endif
