#if Shell
  /// How fast a number grows, on average over the last seconds.
  struct Speedometer {
    static let window = Duration.seconds(5)
    /// Readings that are closer to each other than this are one.
    private static let grain = Duration.milliseconds(250)

    private var readings: [(at: Duration, value: Int64)] = []

    mutating func read(_ value: Int64, at now: Duration) {
      if readings.count >= 2, now - readings[readings.count - 2].at < Self.grain {
        readings[readings.count - 1] = (now, value)
      } else {
        readings.append((now, value))
      }
      while readings.count > 2, readings[1].at <= now - Self.window { readings.removeFirst() }
    }

    /// In a second; nil as long as there is too little to say.
    func speed(at now: Duration) -> Double? {
      guard let last = readings.last,
        let first = readings.last(where: { $0.at <= now - Self.window }) ?? readings.first
      else { return nil }
      let time = (now - first.at).seconds
      return time >= 0.2 ? Double(last.value - first.value) / time : nil
    }
  }
#endif
