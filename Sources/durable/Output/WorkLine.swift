#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// What a worker's screen says of a job: that it starts, or how an attempt ended.
  struct WorkLine: Sendable {
    enum Mark: String, Sendable {
      case start, done, again, failed, ended, back, waits

      fileprivate var colour: Colour {
        switch self {
        case .start: .dim
        case .done: .green
        case .failed: .red
        case .again, .ended, .back, .waits: .yellow
        }
      }
    }

    var id: JobID
    var mark: Mark
    var title: String
    /// What is worth knowing beside it.
    var detail = ""

    /// As it is shown on `screen`, without passwords. Where the width has no room for a reason, that stands below, in up to two
    /// lines, as in a ``JobTable``; how much came how fast is cut. Without the id, it is a line about something that has a name.
    func text(for screen: Screen, withID: Bool = true) -> String {
      lines(for: screen, width: screen.width, withID: withID).joined(separator: "\n")
    }

    func lines(for screen: Screen, width: Int?, withID: Bool = true) -> [String] {
      let head = withID ? "\(id)".padded(4, alignedRight: true) + "  " : ""
      let title = title.withoutPasswords.withVisibleControls
      let detail = detail.withoutPasswords.withLocalDeadline.withVisibleControls
      let start = head + screen.coloured(mark.rawValue.padded(6), mark.colour) + "  "
      let tail = detail.isEmpty ? "" : "  " + detail
      guard let width else { return [start + title + tail] }
      // The last column stays free, as that of all lines beside bars.
      let indent = head.columns + 8
      let room = max(width - 1 - indent, 20)
      let isReason = mark != .start && mark != .done
      guard !isReason || tail.columns <= max(room / 2, room - title.columns) else {
        let below = detail.wrapped(to: room, lines: 2)
        return [start + title.shortened(to: room)]
          + below.map { String(repeating: " ", count: indent) + screen.coloured($0, .dim) }
      }
      let forTail = min(tail.columns, max(room * 2 / 3, room - title.columns))
      return [start + title.shortened(to: room - forTail) + tail.cut(to: forTail)]
    }
  }
#endif
