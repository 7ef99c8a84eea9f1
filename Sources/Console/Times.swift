#if Shell
  import DurableJobs
  import Foundation

  extension Duration {
    /// A length of time that is a guess: "85 s", "12 min", "3 h", "2 d", "3 y".
    package var roughly: String {
      let seconds = max(0, seconds)
      return switch seconds {
      case ..<99.5: "\(Int(seconds.rounded())) s"
      case ..<5970: "\(Int((seconds / 60).rounded())) min"
      case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
      case ..<86_400_000: "\(Int((seconds / 86400).rounded())) d"
      case ..<315_560_221_200: "\(Int((seconds / 31_557_600).rounded())) y"
      default: "∞"
      }
    }

    /// As in "0.3 s", "12 s", "3 min 5 s", "2 h 10 min".
    package var forPeople: String {
      let seconds = self.seconds
      let whole = Int(seconds.rounded())
      return switch seconds {
      case ..<9.95: "\(Int((seconds * 10).rounded()) / 10).\(Int((seconds * 10).rounded()) % 10) s"
      case ..<119.5: "\(whole) s"
      case ..<7200: "\(whole / 60) min \(whole % 60) s"
      case ..<172_800: "\(whole / 3600) h \(whole % 3600 / 60) min"
      default: "\(whole / 86400) d \(whole % 86400 / 3600) h"
      }
    }
  }

  extension Date {
    /// In local time, with the date if it is not today: "at 18:30:05", "on 2026-11-22 at 08:00:00".
    package var forPeople: String {
      // ISO dates are Gregorian, whatever calendar people here have.
      let parts = Calendar(identifier: .gregorian).dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: self)
      func two(_ number: Int?) -> String { String("0\(number ?? 0)".suffix(2)) }
      let time = "at \(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))"
      if Calendar.current.isDateInToday(self) { return time }
      return "on \(parts.year ?? 0)-\(two(parts.month))-\(two(parts.day)) \(time)"
    }
  }
#endif
