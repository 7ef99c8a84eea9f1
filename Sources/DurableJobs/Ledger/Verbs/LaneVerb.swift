/// Hands out the seats of a lane whose width was changed. Those that run go on.
package struct LaneVerb: Verb {
  private var book: Book
  package let reply: Void = ()

  package init(_ name: String, now: Int64) {
    book = Book(now: now)
    book.lanes.changed(name)
  }

  package mutating func next(_ answer: LedgerReply) -> LedgerRequest? {
    book.add(answer)
    return book.conclude()
  }
}
