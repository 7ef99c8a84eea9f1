/// Hands out the seats of a lane whose width was changed. Those that run go on.
package struct LaneVerb: Verb {
  private var book: Book
  private var consequences = Consequences()
  private var isDone = false
  package let reply: Void = ()

  package init(_ name: String, now: Int64) {
    book = Book(now: now)
    book.lanes.changed(name)
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    guard !isDone else { return nil }
    book.add(answer)
    if let needs = consequences.next(&book) { return LedgerRequest(load: needs) }
    isDone = true
    return book.close()
  }
}
