import DurableJobs

extension WriteTransaction {
  func change(_ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int) throws -> ChangeReport {
    // One more than asked for, to know whether there are more.
    let page = try JobPage(filter: filter, after: after, limit: limit + 1, on: connection.handle)
    let ids = try page.ids(on: connection.handle)
    var report = ChangeReport()
    for id in ids.prefix(limit) {
      do {
        try self.change(change, id.rawValue)
        report.changed.append(id)
      } catch let refusal as JobError where refusal.code == .wrongState {
        report.refused.append(ChangeReport.Refusal(job: id, message: refusal.message))
      }
    }
    if ids.count > limit { report.next = ids[limit - 1] }
    return report
  }

  private func change(_ change: JobChange, _ id: Int64) throws {
    guard var row = try load(id) else { return }
    row.course.promote(now: date)  // a job that is due counts as ready, whether somebody has written that down or not
    let wasRunning = row.course.state == .running
    try row.course.apply(change, now: date, keyHolder: try keyHolder(row.terms.unique))
    if change == .remove { return try delete(row) }
    if row.before.state.isFinished, row.course == row.before { return }

    let endsClaim = wasRunning && JobCourse.endsClaim(change)
    let asksToStop = row.course.stopAsked != nil && row.course.stopAsked != row.before.stopAsked
    if endsClaim || asksToStop { try run(.askStop, ClaimNumber.worker(of: row.claim)) }
    switch change {
    case .complete(let output): try store(output: output, of: id)
    case .fail(let message): try remember(failure: message, attempt: row.course.attempt, of: id)
    case .progress(let progress): try store(progress, of: &row)
    case .retry, .cancel, .suspend, .resume, .remove, .reset: break
    }
    try save(row, concernsClaim: endsClaim || asksToStop)
  }

  /// Deletes a job and all that is known of it.
  func delete(_ row: JobRow) throws {
    for table in [HeldStatement.deleteSpec, .deleteOutput, .deleteFailures, .deleteProgress] { try run(table, row.id) }
    if row.links.contains(.crash) { try run(.deleteCrash, row.id) }
    if row.links.contains(.note) { try run(.deleteNote, row.id) }
    if row.links.contains(.unique), let key = row.terms.unique { try run(.releaseKey, key, of: row.id) }
    if let key = row.terms.key { try run(.deleteKey, key, of: row.id) }
    for tag in row.terms.tags ?? [] { try run(.deleteTag, tag, of: row.id) }
    if try number(.highestID) == row.id {
      try leaveStub(row.id)
    } else {
      try run(.deleteJob, row.id)
    }
    try moved(row.id, route: row.route, from: row.before.state, to: nil)
  }

  /// The highest id of all would be given out again if its row went. It goes when the next stub takes its place.
  private func leaveStub(_ id: Int64) throws {
    let old = try number(.stub)
    if old != 0 { try run(.deleteStub, old) }
    try run(.makeStub, id)
    try run(.setStub, id)
  }

  private func number(_ name: HeldStatement) throws -> Int64 {
    let statement = try connection[name]
    var number: Int64 = 0
    while try statement.step() { number = statement.int(0) }
    return number
  }

  func configure(_ settings: [StoreSetting]) throws {
    for setting in settings {
      switch setting {
      case .queue(let name, let isPaused):
        let pause = try connection[.pauseQueue]
        pause.bind(1, name)
        pause.bind(2, Int64(isPaused ? 1 : 0))
        try pause.run()
        if pause.changes > 0 {
          try connection[.bumpChanges].run()
          addNews(.work)
        }
      }
    }
    localNews.insert(.work)
  }
}
