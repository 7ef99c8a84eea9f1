#if Shell
  /// How slowly the demo's server gives a file away: in steps, with a pause after each.
  struct ServingPace: Hashable, Sendable {
    static let steps = [0.05, 0.2, 0.4, 0.6, 0.8]

    /// How long a step takes.
    var step = Duration.seconds(1)
    /// Whether a step takes up to three times as long, at random.
    var isRandom = false

    /// Where what is sent at once ends, if it begins at `offset`: with the step that the offset is in.
    func end(from offset: Int, size: Int) -> Int {
      Self.steps.lazy.map { Int((Double(size) * $0).rounded()) }.first { $0 > offset } ?? size
    }

    /// The pause after a step; `random` is from 0 to 1.
    func pause(random: Double) -> Duration { isRandom ? step * (1 + 2 * random) : step }
  }
#endif
