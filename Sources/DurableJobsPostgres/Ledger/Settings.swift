#if Postgres
  import DurableJobs

  extension Transaction {
    static let pauseSQL = """
      INSERT INTO §queue AS q(name,paused) VALUES($1,$2)
      ON CONFLICT(name) DO UPDATE SET paused=excluded.paused WHERE q.paused<>excluded.paused
      """
    static let limitSQL = """
      INSERT INTO §queue AS q(name,running,rate,period,burst) SELECT $1,$2,$3,$4,$5
        WHERE $2 IS NOT NULL OR $3 IS NOT NULL OR EXISTS(SELECT 1 FROM §queue WHERE name=$1)
      ON CONFLICT(name) DO UPDATE
        SET running=excluded.running,rate=excluded.rate,period=excluded.period,burst=excluded.burst
        WHERE (q.running,q.rate,q.period,q.burst)
          IS DISTINCT FROM (excluded.running,excluded.rate,excluded.period,excluded.burst)
      """
    static let widenSQL = """
      INSERT INTO §lane_width(name,width) VALUES($1,$2) ON CONFLICT(name) DO UPDATE SET width=excluded.width
      """
    static let usualLanesSQL = "DELETE FROM §lane_width WHERE name=ANY($1) AND width=1 AND rate IS NULL"
    static let setConditionSQL = """
      INSERT INTO §condition AS c VALUES($1,$2)
      ON CONFLICT(name) DO UPDATE SET satisfied=excluded.satisfied WHERE c.satisfied<>excluded.satisfied
      """
    static let clearConditionSQL = "DELETE FROM §condition WHERE name=$1"

    func configure(_ settings: [StoreSetting]) throws {
      begin()
      for setting in settings {
        switch setting {
        case .queue(let name, let isPaused):
          try set(Self.pauseSQL, [.text(name.composed), .bool(isPaused)], .work)
        case .lane(let name, let width):
          lock([name.composed], .lane)
          try setLane(name, width: width)
          connection.send(Self.widenSQL, [.text(name.composed), .int(Int64(width))])
          connection.send(Self.usualLanesSQL, [.texts([name.composed])])
        case .laneRate(let name, let rate): try setLane(name, rate: .some(rate))
        case .limits(let name, let limits):
          let rate = limits?.rate
          let numbers = [
            limits?.running.map(Int64.init), rate.map { Int64($0.count) }, rate?.period.milliseconds,
            rate.map { Int64($0.burst) },
          ]
          try set(Self.limitSQL, [.text(name.composed)] + numbers.map { .int($0) }, .work)
        case .constraint(let constraint, let isSatisfied):
          let name = Value.text(constraint.rawValue.composed)
          if let isSatisfied {
            try set(Self.setConditionSQL, [name, .bool(isSatisfied)], [.work, .settings])
          } else {
            try set(Self.clearConditionSQL, [name], [.work, .settings])
          }
        }
      }
      news.here.insert(.work)
    }

    /// Settings that processes keep in memory: they read them again after a change.
    private func set(_ sql: String, _ values: [Value], _ change: ForeignChange) throws {
      var hasChanged = false
      connection.send(sql, values) { hasChanged = $0.changes > 0 }
      try sync()
      guard hasChanged else { return }
      connection.send(Self.bumpSQL)
      news.tell(change)
    }
  }
#endif
