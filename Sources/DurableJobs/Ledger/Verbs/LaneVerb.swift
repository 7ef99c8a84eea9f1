/// Hands out the seats of a lane whose width was changed, or sets its rate. Running jobs continue.
package struct LaneVerb: Verb {
  private let name: String
  private let width: Int?
  private let rate: JobRate??
  private var book: Book
  package let reply: Void = ()

  /// A nil value stays as it is; an inner nil removes the rate.
  package init(_ name: String, width: Int? = nil, rate: JobRate?? = nil, now: Int64) {
    (self.name, self.width, self.rate) = (name, width, rate)
    book = Book(now: now)
    book.lanes.changed(name)
  }

  package mutating func next(_ answer: LedgerReply) throws -> LedgerRequest? {
    var answer = answer
    if let width { answer.lanes[name]?.width = width }
    book.add(answer)
    if let row = answer.lanes[name] {
      guard row.width == 1 || (rate ?? row.pace?.rate) == nil else {
        throw JobError(
          .wrongState, "the lane '\(name)' can't have both a rate and a width of \(row.width): lift one of them")
      }
      if let rate { book.lanes.set(rate, of: name, at: book.now) }
    }
    return book.conclude()
  }
}
