#if Shell
  import Console
  import DurableJobs

  /// A batch in JSON, and in a line.
  struct BatchRecord: Encodable {
    var id: Int64
    var name: String
    /// "open", "running" or "done".
    var state: String
    var total: Int
    var unfinished: Int
    var succeeded: Int
    /// Ended otherwise than with success.
    var unsuccessful: Int
    /// How much is done, from 0 to 1.
    var fraction: Double
    /// The job that was stored when it was done.
    @OrNull var whenDone: JobID?

    init(_ status: JobBatch.Status) {
      let batch = status.batch
      id = batch.id.rawValue
      name = batch.name
      state = batch.isDone ? "done" : batch.isOpen ? "open" : "running"
      (total, unfinished, succeeded) = (batch.total, batch.unfinished, batch.succeeded)
      unsuccessful = status.unsuccessful
      fraction = status.fraction
      whenDone = batch.whenDone
    }

    func write(to screen: Screen, nameWidth: Int = 0) { screen.line(line(for: screen, nameWidth: nameWidth)) }

    /// As in "3  photos  open  [####----]  5 of 9 done, 1 did not succeed", cut to the width of the screen.
    func line(for screen: Screen, nameWidth: Int) -> String {
      // The last column stays free, as a line that changes in place needs it.
      let width = (screen.width ?? 121) - 1
      let colour: Colour = state == "done" ? (unsuccessful > 0 ? .red : .green) : state == "open" ? .yellow : .blue
      let head =
        "\(id)  " + name.withVisibleControls.shortened(to: max(8, width / 3)).padded(min(nameWidth, max(8, width / 3)))
      let failures = unsuccessful > 0 ? ", \(unsuccessful) did not succeed" : ""
      let follower = whenDone.map { ", then job \($0)" } ?? ""
      let text = "\(total - unfinished) of \(total) ended\(failures)\(follower)"
      let room = width - head.columns - 12 - text.columns - 4
      let bar = room >= 10 && screen.isTerminal ? ProgressBar(fraction: fraction, width: min(room, 30)).text + "  " : ""
      let used = head.columns + 2 + 7 + 2 + bar.columns
      return head + "  " + screen.coloured(state.padded(7), colour) + "  " + bar + text.cut(to: max(0, width - used))
    }
  }

  /// How far a batch is, in a stream.
  struct BatchLine: Encodable {
    var event = "batch"
    var batch: BatchRecord

    init(_ batch: BatchRecord) { self.batch = batch }
  }
#endif
