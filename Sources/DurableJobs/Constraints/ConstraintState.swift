/// What a worker knows of conditions: from its monitors, and from what people set for every process. Events go in, and out
/// comes what holds and whose back-off ends.
///
/// A value, with no clock and no I/O. `now` is always an uptime.
struct ConstraintState: Sendable {
  /// Some of those that wait after a failed attempt, and require what has returned, begin again within a time.
  struct Bite: Equatable, Sendable {
    let constraint: JobConstraint
    let after: JobID?
    let window: Duration
  }

  private struct Return: Sendable {
    /// Of its next bite.
    var due: Duration
    var after: JobID?
    var bites = 0
  }

  /// Jobs in a bite.
  static let bite = 1000
  /// Those of the first bite begin again within a second; if there are many, the later ones within a few.
  static func window(bite number: Int) -> Duration { .seconds(min(number, 5)) }
  /// What comes and goes ends back-offs no more often than this: else it would use attempts up.
  static let interval = Duration.seconds(30)

  /// By each monitor; nil as long as it has told nothing.
  private var told: [JobConstraint: Bool?] = [:]
  /// Nil as long as nobody has read it.
  private var setByHand: [JobConstraint: Bool]?
  private var returns: [JobConstraint: Return] = [:]
  private var lastReturns: [JobConstraint: Duration] = [:]

  // MARK: What holds

  /// What its monitors say, without what was set by hand.
  var satisfied: Set<JobConstraint> { told.isEmpty ? [] : Set(told.filter { $0.value == true }.keys) }
  /// What it has monitors for and does not hold.
  var absent: Set<JobConstraint> { told.isEmpty ? [] : Set(told.filter { $0.value != true }.keys) }

  func holds(_ constraint: JobConstraint) -> Bool {
    setByHand?[constraint] ?? told[constraint].flatMap(\.self) ?? false
  }

  /// Each monitor has told something.
  var isKnown: Bool { told.values.allSatisfy { $0 != nil } }

  // MARK: Events

  mutating func provides(_ constraint: JobConstraint) { told[constraint] = .some(told[constraint] ?? nil) }

  /// False if that is no news.
  mutating func told(_ constraint: JobConstraint, _ isSatisfied: Bool, _ now: Duration) -> Bool {
    let (known, held) = (told[constraint] ?? nil, holds(constraint))
    guard known != isSatisfied else { return false }
    told[constraint] = isSatisfied
    // The first that is heard of it is no return.
    if known != nil { changed(constraint, held, now) }
    return true
  }

  /// It will tell nothing more.
  mutating func ended(_ constraint: JobConstraint) { told[constraint] = (told[constraint] ?? nil) ?? false }

  /// False if that is no news.
  mutating func set(_ settings: [JobConstraint: Bool], _ now: Duration) -> Bool {
    guard let old = setByHand else {
      setByHand = settings
      return !settings.isEmpty
    }
    guard old != settings else { return false }
    let before = Set(old.keys).union(settings.keys).map { ($0, holds($0)) }
    setByHand = settings
    for (constraint, held) in before { changed(constraint, held, now) }
    return true
  }

  private mutating func changed(_ constraint: JobConstraint, _ held: Bool, _ now: Duration) {
    guard holds(constraint) else { return returns[constraint] = nil }
    guard !held else { return }
    let earliest = lastReturns[constraint].map { $0 + Self.interval }
    returns[constraint] = Return(due: max(now, earliest ?? now))
  }

  // MARK: Returns

  /// Answered by `woke` or `wakeFailed`.
  func nextBite(_ now: Duration) -> Bite? {
    guard let (constraint, next) = returns.filter({ $0.value.due <= now }).min(by: { $0.key < $1.key }) else {
      return nil
    }
    return Bite(constraint: constraint, after: next.after, window: Self.window(bite: next.bites + 1))
  }

  var nextTime: Duration? { returns.values.map(\.due).min() }

  /// `next`: where to go on, if there may be more.
  mutating func woke(_ bite: Bite, next: JobID?, _ now: Duration) {
    if bite.after == nil { lastReturns[bite.constraint] = now }
    returns[bite.constraint]?.bites += 1
    if let next { returns[bite.constraint]?.after = next } else { returns[bite.constraint] = nil }
  }

  mutating func wakeFailed(_ bite: Bite, _ now: Duration) { returns[bite.constraint]?.due = now + .seconds(1) }
}
