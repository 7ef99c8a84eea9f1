#if HTTP
  /// What goes over the wire for a request, decided before the first byte.
  struct Reply {
    enum Step {
      case bytes([UInt8])
      /// `isChunked`: each piece that is sent is a chunk of its own.
      case content(Content, Range<Int64>, isChunked: Bool)
      case hold
      case close
      case reset
    }

    /// 0 where no answer comes.
    var status = 0
    var steps: [Step] = []
    var bytesPerSecond: Int64?

    init(_ answer: LyingAnswer, to request: Request) {
      bytesPerSecond = answer.bytesPerSecond
      switch answer.kind {
      case .silence: steps = [.hold, .close]
      case .hangUp: steps = [.close]
      case .reset: steps = [.reset]
      case .status(let status): add(answer, status: status, range: 0..<answer.content.size, fields: [])
      case .file: addFile(answer, request)
      }
    }

    private mutating func addFile(_ answer: LyingAnswer, _ request: Request) {
      let size = answer.content.size
      guard let asked = Self.range(asked: request, answer) else {
        return add(answer, status: 200, range: 0..<size, fields: [])
      }
      func said(_ range: Range<Int64>, of total: Int64) -> (String, String) {
        ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)")
      }
      var answer = answer
      answer.fields.removeAll { answer.unrepeated.contains($0.name) }
      let isBeyond = asked.lowerBound >= size
      switch answer.ranges {
      case .ignored:
        add(answer, status: 200, range: 0..<size, fields: [])
      case .refused(let tellsSize):
        addRefusal(answer, tellsSize: tellsSize)
      case _ where isBeyond:
        addRefusal(answer, tellsSize: true)
      case .honoured:
        add(answer, status: 206, range: asked, fields: [said(asked, of: size)])
      case .shifted(let shift):
        // Never beyond the last byte, which an answer with a range has at least.
        let range = min(max(0, asked.lowerBound + shift), size - 1)..<size
        add(answer, status: 206, range: range, fields: [said(range, of: size)])
      case .atMost(let limit):
        let range = asked.lowerBound..<min(asked.upperBound, asked.lowerBound + limit)
        add(answer, status: 206, range: range, fields: [said(range, of: size)])
      case .ofTotal(let total):
        add(answer, status: 206, range: asked, fields: [said(asked, of: total)])
      case .unsaid:
        add(answer, status: 206, range: asked, fields: [])
      case .lengthOff(let difference):
        add(answer.framed(.lengthOff(by: difference)), status: 206, range: asked, fields: [said(asked, of: size)])
      case .multipart, .multipartWithRange:
        let (name, value) = said(asked, of: size)
        var isSaid = false
        if case .multipartWithRange = answer.ranges { isSaid = true }
        let before = "--limit\r\nContent-Type: application/octet-stream\r\n\(name): \(value)\r\n\r\n"
        let parts = [Content(before), Content(bytes: answer.content.bytes(asked)), Content("\r\n--limit--\r\n")]
        var multipart = answer.with("Content-Type", "multipart/byteranges; boundary=limit")
        multipart.content = Content(bytes: parts.flatMap(\.bytes))
        add(multipart, status: 206, range: 0..<multipart.content.size, fields: isSaid ? [(name, value)] : [])
      }
    }

    private mutating func addRefusal(_ answer: LyingAnswer, tellsSize: Bool) {
      let fields = tellsSize ? [("Content-Range", "bytes */\(answer.content.size)")] : []
      var empty = answer
      empty.content = Content("")
      add(empty, status: 416, range: 0..<0, fields: fields)
    }

    /// The range to be sent; nil for the whole file.
    private static func range(asked request: Request, _ answer: LyingAnswer) -> Range<Int64>? {
      guard let start = request.rangeStart else { return nil }
      if answer.heedsIfRange, let condition = request["If-Range"] {
        let validators = answer.fields.filter { ["ETag", "Last-Modified"].contains($0.name) }.map(\.value)
        // A weak entity tag never fits.
        guard validators.contains(condition), !condition.hasPrefix("W/") else { return nil }
      }
      return start..<max(start, answer.content.size)
    }

    private mutating func add(
      _ answer: LyingAnswer, status: Int, range: Range<Int64>, fields: [(String, String)]
    ) {
      self.status = status
      var lines = ["\(answer.version) \("00\(status)".suffix(3)) \(status < 300 ? "Fine" : "Not so fine")"]
      lines += (answer.fields + fields).map { "\($0.name): \($0.value)" }
      var isChunked = false
      var closes = answer.cut != nil
      switch answer.framing {
      case .length: lines.append("Content-Length: \(range.count)")
      case .lengthOff(let difference):
        lines.append("Content-Length: \(Int64(range.count) + difference)")
        closes = true
      case .chunked, .chunkedCut:
        lines.append("Transfer-Encoding: chunked")
        isChunked = true
      case .close:
        lines.append("Connection: close")
        closes = true
      case .coded(let coding):
        lines.append("Transfer-Encoding: \(coding)")
        closes = true
      }
      let head = answer.interim + lines.joined(separator: "\r\n") + "\r\n\r\n"
      steps.append(.bytes(answer.isLatin1 ? head.unicodeScalars.map { UInt8($0.value) } : Array(head.utf8)))
      if let surplus = answer.surplus {
        var body = answer.content.bytes(range)
        if isChunked { body = Array("\(String(body.count, radix: 16))\r\n".utf8) + body + "\r\n0\r\n\r\n".utf8 }
        steps.append(.bytes(body + surplus.utf8))
        return
      }
      addBody(answer, range, isChunked: isChunked)
      switch answer.framing {
      case .chunked where answer.cut == nil: steps.append(.bytes(Array("0\r\n\r\n".utf8)))
      case .chunkedCut: closes = true
      default: break
      }
      if closes { steps.append(.close) }
    }

    private mutating func addBody(_ answer: LyingAnswer, _ range: Range<Int64>, isChunked: Bool) {
      let end = answer.cut.map { min(range.upperBound, range.lowerBound + $0) } ?? range.upperBound
      var start = range.lowerBound
      for hold in answer.holds.sorted() {
        let place = range.lowerBound + hold
        guard place <= end else { break }
        if place > start { steps.append(.content(answer.content, start..<place, isChunked: isChunked)) }
        steps.append(.hold)
        start = place
      }
      if end > start { steps.append(.content(answer.content, start..<end, isChunked: isChunked)) }
    }
  }
#endif
