#if Shell
  /// Lines at the bottom of a terminal that change in place, below others that scroll away.
  ///
  /// A value: it says what to write, and remembers what stands there. The cursor rests at the beginning of the line below
  /// the block and is never hidden, so that nothing has to be put right when the program dies.
  package struct LiveBlock {
    private let isReflowed: Bool
    private var lines: [String] = []
    private var width = 0
    /// How far below its place the cursor is.
    private var slid = 0

    /// `isReflowed`: the terminal breaks lines that have become too long for it when it gets narrower. Others cut them.
    package init(isReflowed: Bool) { self.isReflowed = isReflowed }

    /// What puts `new` in the place of the block, below `finished`, on a terminal of that many columns and rows. To be
    /// written at once.
    package mutating func replace(with new: [String], below finished: [String] = [], width: Int, height: Int) -> String
    {
      guard !(lines.isEmpty && new.isEmpty && finished.isEmpty) else { return "" }
      // What was wider than the terminal was cut by it, and takes no more than one of the rows that it had then.
      let rows =
        isReflowed
        ? lines.reduce(0) { $0 + max(1, (min($1.columnsShown, self.width) + width - 1) / max(width, 1)) } : lines.count
      let up = min(rows + slid, max(height - 1, 0))
      slid = 0
      var text = "\r" + (up > 0 ? "\u{1b}[\(up)A" : "")
      // And it may take two lines for one that it broke, until they are cleared as a whole.
      if width != self.width { text += "\u{1b}[J" }
      self.width = width
      // Each line is written over the old one, and only then is the rest of it cleared: nothing flickers. What is wider than
      // thought is cut by the terminal, and doesn't break the line; and where a frame is cut short between two lines, because
      // nobody reads, the terminal breaks those of others again.
      text += (finished + new).map { "\u{1b}[?7l\($0)\u{1b}[K\u{1b}[?7h\n" }.joined()
      text += "\u{1b}[J"
      lines = new
      return text
    }

    /// Something else was written, or the cursor was elsewhere: the block is begun anew where the cursor is.
    package mutating func forget() { (lines, slid) = ([], 0) }

    /// Somebody has typed so many rows below it.
    package mutating func slide(by rows: Int) { if !lines.isEmpty { slid += rows } }
  }

  extension String {
    /// Colours take none.
    fileprivate var columnsShown: Int { replacing(/\u{1b}\[[0-9;]*m/, with: "").columns }
  }
#endif
