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

    /// As it is shown on `screen`, cut to its width and without passwords. Without the id, it is a line about something that has a name.
    func text(for screen: Screen, withID: Bool = true) -> String {
      let head = withID ? "\(id)".padded(4, alignedRight: true) + "  " : ""
      let title = title.withoutPasswords.withVisibleControls
      let tail = detail.isEmpty ? "" : "  " + detail.withoutPasswords.withLocalDeadline.withVisibleControls
      var text = title + tail
      if let width = screen.width {
        // The last column stays free, as that of all lines beside bars.
        let room = max(width - 1 - head.columns - 8, 20)
        let forTail = min(tail.columns, max(room * 2 / 3, room - title.columns))
        text = title.shortened(to: room - forTail) + tail.cut(to: forTail)
      }
      return head + screen.coloured(mark.rawValue.padded(6), mark.colour) + "  " + text
    }
  }
#endif
