import Foundation

/// New jobs. One whose unique key another has is not stored: that one stands for it.
package struct InsertVerb: Verb {
  private enum Phase { case begin, place, added, done }

  /// Which job stands for a new one.
  private enum Stand {
    case added(Int)
    case keptAdded(Int)
    case kept(JobID)
  }

  private let jobs: [NewJob]
  private let now: Date
  private var stands: [Stand] = []
  private var phase = Phase.begin
  package private(set) var reply = InsertionReply([])

  package init(_ insertion: JobInsertion, now: Int64) {
    jobs = insertion.jobs
    self.now = Date(milliseconds: now)
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    switch phase {
    case .begin:
      let keys = jobs.compactMap(\.terms.unique?.key)
      guard keys.isEmpty else {
        phase = .place
        var needs = Needs()
        needs.keys = keys
        return LedgerRequest(load: needs)
      }
      return place([:])
    case .place:
      return place(answer.owners)
    case .added:
      phase = .done
      let ids = answer.added
      reply.jobs = stands.map { stand in
        switch stand {
        case .added(let index): InsertedJob(id: ids[index], disposition: .inserted)
        case .keptAdded(let index): InsertedJob(id: ids[index], disposition: .kept)
        case .kept(let id): InsertedJob(id: id, disposition: .kept)
        }
      }
      return nil
    case .done:
      return nil
    }
  }

  private mutating func place(_ owners: [String: JobID]) -> LedgerRequest? {
    var request = LedgerRequest()
    var placed: [String: Int] = [:]
    request.add.reserveCapacity(jobs.count)
    stands.reserveCapacity(jobs.count)
    for job in jobs {
      if let key = job.terms.unique?.key {
        if let owner = owners[key] {
          stands.append(.kept(owner))
          continue
        }
        if let index = placed[key] {
          stands.append(.keptAdded(index))
          continue
        }
        placed[key] = request.add.count
      }
      stands.append(.added(request.add.count))
      request.add.append(NewRow(job: job, course: JobCourse(inserting: job.terms, now: now)))
    }
    phase = .added
    return request
  }
}
