#if Shell
  /// The controls of the download screen.
  struct DownloadControls: Hashable, Sendable {
    static let jobCounts = 1...500
    static let concurrencies = 1...100

    var jobCount = 10
    var maxConcurrent = 4
    var isTimeRandom = false

    /// Where the sliders stop: each number first, then larger and larger steps.
    private static let stops =
      Array(1...20) + Array(stride(from: 30, through: 100, by: 10)) + [150, 200, 300, 400, 500]

    mutating func slideJobCount(up: Bool) { jobCount = Self.stop(after: jobCount, up, in: Self.jobCounts) }
    mutating func slideMaxConcurrent(up: Bool) {
      maxConcurrent = Self.stop(after: maxConcurrent, up, in: Self.concurrencies)
    }

    private static func stop(after value: Int, _ up: Bool, in range: ClosedRange<Int>) -> Int {
      let next = up ? stops.first { $0 > value } : stops.last { $0 < value }
      return next.map { range.contains($0) ? $0 : value } ?? value
    }

    /// How far along its way a slider is that stands at `value`, from 0 to 1.
    static func place(of value: Int, in range: ClosedRange<Int>) -> Double {
      let stops = stops.filter(range.contains)
      let index = stops.lastIndex { $0 <= value } ?? 0
      return Double(index) / Double(stops.count - 1)
    }
  }
#endif
