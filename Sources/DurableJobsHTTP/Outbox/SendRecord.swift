#if HTTP
  import DurableJobs
  import Foundation

  /// What stands beside the store of a request from when it is sent: that it may have arrived, and then what was answered. The
  /// store hears of that at the end of the attempt, and hears nothing where the process dies before, or the disk is full by then.
  ///
  /// Its room is taken before the request goes. It outlives the process, but no power cut: nothing of it is flushed.
  struct SendRecord: Sendable {
    private static let ending = ".sent"
    /// A digest in hexadecimal, and the end of its line.
    private static let headBytes = 2 * 32 + 1
    /// What most answers fit in.
    private static let room = 96 << 10

    let name: String
    /// An attempt before this one may have arrived.
    let wasSent: Bool
    /// What that one was answered.
    let answer: HTTPAnswer?
    private let file: Descriptor
    private let path: String
    /// Says of which request it is: a store that takes another's place counts its jobs from 1, too.
    private let head: Data
    /// How long it is with what was noted last.
    private let length: Lock<Int>

    /// Nil where one can't be made, and for a store that is in no file. Throws ``RequestError/Code/shortage`` where there is no
    /// room for it: the store would not hear of the answer either.
    init?(of request: SendRequest, by job: JobID, storedAt date: Date, in bodies: BodyFolder) throws {
      guard bodies.isBesideStore else { return nil }
      guard bodies.make() else {
        try Self.checkShortage(bodies.path)
        return nil
      }
      let identity =
        "\(job) \(date.milliseconds) \(request.method.rawValue) \(request.url) \(request.idempotencyKey ?? "")"
      head = Data("\(SHA256.hash(data: Data(identity.utf8)).hexadecimal)\n".utf8)
      length = Lock(head.count)
      name = "\(job)\(Self.ending)"
      path = bodies.path(of: name)
      file = Descriptor(open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600))
      guard file.number >= 0 else {
        try Self.checkShortage(path)
        return nil
      }
      guard let text = try? file.read(path) else { return nil }
      wasSent = text.starts(with: head)
      answer = wasSent ? Self.answer(text.dropFirst(head.count)) : nil
      guard answer == nil else { return }
      do {
        if wasSent {
          // For the attempt before this, should it wake up yet: the record is no longer its own.
          try write(head + Data("\n".utf8) + Data(count: Self.room), at: 0)
          return
        }
        try file.cut(to: 0, path)
        try write(head + Data(count: Self.room), at: 0)
      } catch  where wasSent {
        // What is known of the sending before stays.
      } catch {
        bodies.remove(name)
        guard (error as? DownloadError)?.isOfFullDisk == true else { return nil }
        throw Self.shortage("\(error)")
      }
    }

    private static func shortage(_ why: String) -> RequestError {
      RequestError(.shortage, "no room to note what will be answered: \(why)")
    }

    /// Throws where what `errno` says passes.
    private static func checkShortage(_ path: String) throws {
      let error = DownloadError.disk("write to", path)
      if error.code == .noRoom { throw shortage(error.message) }
    }

    /// Of a job that has ended otherwise than by an answer, only what says that it may have arrived is kept.
    static func giveRoomBack(_ name: String, in bodies: BodyFolder) {
      truncate(bodies.path(of: name), off_t(headBytes))
    }

    /// Of the job whose record has that name.
    static func job(_ name: String) -> JobID? {
      guard name.hasSuffix(ending), let number = Int64(name.dropLast(ending.count)) else { return nil }
      return JobID(rawValue: number)
    }

    /// What a later attempt of the job is to be told: the last of what is noted. Of one that there is no room for, at least
    /// that it came.
    func note(_ answer: HTTPAnswer) {
      var short = answer
      (short.body, short.isCut) = (Data(), true)
      for answer in [answer, short] {
        guard let text = try? JSONEncoder().encode(answer) else { continue }
        let note = Data("\(text.count) \(SHA256.hash(data: text).hexadecimal)\n".utf8) + text
        // Behind what was noted before, which stays if the process dies while this is written.
        let isDone = length.withLock { length in
          guard (try? write(note, at: length)) != nil else { return false }
          length += note.count
          return true
        }
        if isDone { return }
      }
    }

    /// Takes away what says that the request may have arrived, unless an attempt that came after this relies on it.
    func remove(from bodies: BodyFolder) {
      guard let text = try? file.read(path), text.dropFirst(head.count).first == 0 else { return }
      bodies.remove(name)
    }

    private func write(_ text: Data, at place: Int) throws {
      _ = try text.withUnsafeBytes { try file.write($0, at: Int64(place), path) }
    }

    /// The last that is whole. Nil where none came, or where the process died while the first was written.
    private static func answer(_ text: Data) -> HTTPAnswer? {
      var last: Data?
      var rest = text
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
        rest = rest[end...].dropFirst()
        guard words.count == 2, let count = Int(words[0]), (0...rest.count).contains(count) else { break }
        let answer = Data(rest.prefix(count))
        guard SHA256.hash(data: answer).hexadecimal == words[1] else { break }
        (last, rest) = (answer, rest.dropFirst(count))
      }
      return last.flatMap { try? JSONDecoder().decode(HTTPAnswer.self, from: $0) }
    }
  }
#endif
