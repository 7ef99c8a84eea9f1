/// What a worker knows about conditions, from its monitors and from settings for every process. Events go in; which
/// conditions hold and whose back-off ends comes out.
///
/// A value without a clock or I/O. `now` is always an uptime.
struct ConstraintState: Sendable {
  /// A chunk of the jobs in a back-off that require a condition that returned: each starts again within ``window``.
  struct Bite: Equatable, Sendable {
    let constraint: JobConstraint
    let after: JobID?
    /// When the condition returned: it may have gone and returned again by the time that this is answered.
    let since: Duration
  }

  private struct Return: Sendable {
    let since: Duration
    var due: Duration
    var after: JobID?
  }

  /// Jobs in a chunk.
  static let bite = 1000
  /// A chunk starts again within this, and the next one after it.
  static let window = Duration.seconds(1)
  /// The least time between returns that end back-offs: a condition that flaps must not use up attempts.
  static let interval = Duration.seconds(30)

  /// The last value of each monitor; nil if it has reported none.
  private var told: [JobConstraint: Bool?] = [:]
  /// Nil until it has been read.
  private var setByHand: [JobConstraint: Bool]?
  private var returns: [JobConstraint: Return] = [:]
  private var lastReturns: [JobConstraint: Duration] = [:]

  /// The conditions that hold by the monitors, leaving out settings made by hand.
  var satisfied: Set<JobConstraint> { told.isEmpty ? [] : Set(told.filter { $0.value == true }.keys) }
  var absent: Set<JobConstraint> { told.isEmpty ? [] : Set(told.filter { $0.value != true }.keys) }

  func holds(_ constraint: JobConstraint) -> Bool {
    setByHand?[constraint] ?? told[constraint].flatMap(\.self) ?? false
  }

  /// Whether each monitor has reported a value.
  var isKnown: Bool { told.values.allSatisfy { $0 != nil } }

  mutating func provides(_ constraint: JobConstraint) { told[constraint] = .some(told[constraint] ?? nil) }

  /// Returns false if nothing changed.
  mutating func told(_ constraint: JobConstraint, _ isSatisfied: Bool, _ now: Duration) -> Bool {
    let (known, held) = (told[constraint] ?? nil, holds(constraint))
    guard known != isSatisfied else { return false }
    told[constraint] = isSatisfied
    // The first report is not a return.
    if known != nil { changed(constraint, held, now) }
    return true
  }

  /// Called when the monitor will report nothing more.
  mutating func ended(_ constraint: JobConstraint) { told[constraint] = (told[constraint] ?? nil) ?? false }

  /// Returns false if nothing changed.
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
    returns[constraint] = Return(since: now, due: max(now, earliest ?? now))
  }

  /// Must be answered by `woke` or `wakeFailed`.
  func nextBite(_ now: Duration) -> Bite? {
    returns.filter { $0.value.due <= now }.min { $0.key < $1.key }
      .map { Bite(constraint: $0.key, after: $0.value.after, since: $0.value.since) }
  }

  var nextTime: Duration? { returns.values.map(\.due).min() }

  /// `next`: where to continue, if there may be more jobs.
  mutating func woke(_ bite: Bite, next: JobID?, _ now: Duration) {
    if bite.after == nil { lastReturns[bite.constraint] = now }
    guard returns[bite.constraint]?.since == bite.since else { return }
    returns[bite.constraint] = next.map { Return(since: bite.since, due: now + Self.window, after: $0) }
  }

  mutating func wakeFailed(_ bite: Bite, _ now: Duration) { returns[bite.constraint]?.due = now + Self.window }
}
