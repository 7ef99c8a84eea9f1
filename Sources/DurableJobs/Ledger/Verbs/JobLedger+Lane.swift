extension JobLedger {
  /// Hands out the seats of a lane whose width was changed, or sets its rate. Running jobs continue. A nil value stays as
  /// it is; an inner nil removes the rate.
  package func setLane(_ name: String, width: Int? = nil, rate: JobRate?? = nil) throws {
    var book = Book(self)
    book.lanes.changed(name)
    guard let row = try book.load(Needs(lanes: [name: 0]))?.lanes[name] else { return }
    let width = width ?? row.width
    try require(
      width == 1 || (rate ?? row.pace?.rate) == nil,
      "the lane '\(name)' can't have both a rate and a width of \(width): lift one of them", code: .wrongState)
    try require(
      row.taken <= 1 || (rate ?? nil) == nil,
      "the lane '\(name)' can't have a rate yet: \(row.taken) of its jobs have a seat, from when it was wider. Wait until "
        + "all but one have ended, or cancel them", code: .wrongState)
    book.lanes.set(width, of: name)
    if let rate { book.lanes.set(rate, of: name, at: now) }
    try book.conclude()
  }
}
