import DurableJobs
import Foundation

/// A job as a transaction loaded it: its course, and what is needed to write it back.
struct JobRow {
  let id: Int64
  let route: Int64
  let priority: Int64
  let claim: Int64
  let enteredAt: Int64
  let terms: StoredTerms
  let links: Links
  /// As it was loaded.
  let before: JobCourse
  /// To be changed.
  var course: JobCourse
}

extension WriteTransaction {
  /// Nil if there is no such job.
  func load(_ id: Int64) throws -> JobRow? {
    let statement = try connection[.load]
    statement.bind(1, id)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    guard let state = JobState(code: statement.int(1)) else { return nil }
    let links = Links(rawValue: statement.int(3))
    // Terms that can't be read are as usual: the row is damaged, and its life must go on.
    let terms = (try? StoredTerms(text: statement.text(8))) ?? StoredTerms()
    // A promotion or a plain claim leaves the time in its place.
    let runAt = state == .scheduled || state == .suspended ? statement.intOrNull(6) : nil
    let course = JobCourse(
      state: state, attempt: Int(statement.int(4)), maxAttempts: terms.attempts,
      crashesInRow: Int(statement.int(9)), crashes: Int(statement.int(10)),
      runAt: runAt.map(Date.init(milliseconds:)), stopAsked: links.stopReason, reason: statement.text(11))
    return JobRow(
      id: id, route: statement.int(0), priority: statement.int(2), claim: statement.int(5),
      enteredAt: statement.int(7), terms: terms, links: links, before: course, course: course)
  }

  /// Writes what changed, and tells of it.
  func save(_ row: JobRow, concernsClaim: Bool = false) throws {
    let (old, new) = (row.before, row.course)
    var links = row.links
    links.subtract(.stopAsked)
    if new.stopAsked == .cancelled { links.insert(.cancelAsked) }
    if new.stopAsked == .suspended { links.insert(.suspendAsked) }
    if new.reason != old.reason {
      if let reason = new.reason {
        links.insert(.note); try put(note: reason, id: row.id)
      } else {
        links.remove(.note); try run(.deleteNote, row.id)
      }
    }
    if new.crashes != old.crashes || new.crashesInRow != old.crashesInRow {
      if new.crashes > 0 {
        links.insert(.crash)
        let put = try connection[.putCrash]
        put.bind(1, row.id)
        put.bind(2, Int64(new.crashesInRow))
        put.bind(3, Int64(new.crashes))
        try put.run()
      } else {
        links.remove(.crash)
        try run(.deleteCrash, row.id)
      }
    }
    if links.contains(.unique), old.state.isFinished != new.state.isFinished, let key = row.terms.unique {
      try run(new.state.isFinished ? .releaseKey : .takeKey, key, of: row.id)
    }
    if new != old {
      let save = try connection[.save]
      let runAt = new.runAt?.milliseconds
      save.bind(1, row.id)
      save.bind(2, new.state.code)
      save.bind(3, new.state == .scheduled ? runAt ?? now : 0 &- row.priority)
      save.bind(4, links.rawValue)
      save.bind(5, Int64(new.attempt))
      save.bind(6, runAt)
      save.bind(7, new.state == old.state ? row.enteredAt : now)
      try save.run()
    }
    try moved(row.id, route: row.route, from: old.state, to: new.state, concernsClaim: concernsClaim)
  }

  /// Runs a statement whose only value is an id.
  func run(_ name: HeldStatement, _ id: Int64) throws {
    let statement = try connection[name]
    statement.bind(1, id)
    try statement.run()
  }

  func put(note: String, id: Int64) throws {
    let put = try connection[.putNote]
    put.bind(1, id)
    put.bind(2, note.cutToMessage)
    try put.run()
  }

  func remember(failure message: String, attempt: Int, of id: Int64) throws {
    let append = try connection[.appendFailure]
    append.bind(1, id)
    append.bind(2, Int64(attempt))
    append.bind(3, now)
    append.bind(4, message.cutToMessage)
    var number: Int64 = 0
    while try append.step() { number = append.int(0) }
    guard number > Limits.failuresKept else { return }
    let trim = try connection[.trimFailures]
    trim.bind(1, id)
    trim.bind(2, number - Int64(Limits.failuresKept))
    try trim.run()
  }

  /// Stores progress, and tells the course of a job that crashed if it is beyond the highest ever.
  func store(_ progress: JobProgress, of row: inout JobRow) throws {
    if row.course.crashesInRow > 0 {
      let highest = try connection[.highestProgress]
      highest.bind(1, row.id)
      var known = 0.0
      while try highest.step() { known = highest.double(0) }
      if progress.fraction > known { row.course.progressed() }
    }
    let put = try connection[.putProgress]
    put.bind(1, row.id)
    put.bind(2, progress.fraction)
    put.bind(3, progress.message)
    put.bind(4, now)
    try put.run()
  }

  func store(output: Data?, of id: Int64) throws {
    guard let output else { return }
    let insert = try connection[.insertOutput]
    insert.bind(1, id)
    try insert.run(with: output, at: 2)
  }
}
