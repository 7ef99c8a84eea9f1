#if Shell
  import Console
  import DurableJobs
  import DurableJobsSchedules
  import Foundation

  /// A schedule in JSON, and in lines.
  struct ScheduleRecord: Encodable {
    /// What adding it did, where it was added.
    var declaration: String?
    var name: String
    var queue: String
    @OrNull var cron: String?
    @OrNull var timeZone: String?
    /// Seconds.
    @OrNull var every: Double?
    var words: String
    var catchUp: String
    /// "waiting", "paused", "failed" or "removed".
    var state: String
    /// Why it is paused, or has failed.
    @OrNull var reason: String?
    var next: [Date]
    @OrNull var last: Date?
    var kind: String
    @OrNull var payload: StoredJSON?
    /// The job that waits for the next tick.
    var job: JobID

    private let title: String
    private let zone: TimeZone

    private enum CodingKeys: String, CodingKey {
      case declaration, name, queue, cron, timeZone, every, words, catchUp, state, reason, next, last, kind, payload,
        job
    }

    init(
      _ snapshot: ScheduleSnapshot, declaration: ScheduleDeclaration? = nil, isRemoved: Bool = false, now: Date = Date()
    ) {
      let template = snapshot.schedule.template
      self.declaration = declaration?.rawValue
      name = snapshot.name
      queue = snapshot.queue
      words = snapshot.recurrence.description
      if let interval = snapshot.recurrence.interval {
        every = interval.seconds
      } else {
        cron = snapshot.recurrence.text
        timeZone = snapshot.recurrence.zoneName
      }
      catchUp = snapshot.catchUp.rawValue
      state = isRemoved ? "removed" : snapshot.failure != nil ? "failed" : snapshot.isPaused ? "paused" : "waiting"
      reason = (snapshot.failure ?? (snapshot.isPaused ? snapshot.job.reason : nil))?.withoutPasswords
      next = isRemoved || snapshot.failure != nil ? [] : snapshot.nextTimes(3, after: now)
      last = snapshot.last
      kind = snapshot.kind
      payload = template.withoutSecrets.payload.map { StoredJSON($0) }
      job = snapshot.job.id
      title = template.title
      zone = snapshot.recurrence.timeZone ?? .current
    }

    /// Its rule; the times that come; and what it does then, cut to the width of the screen.
    func write(to screen: Screen, nameWidth: Int, now: Date = Date()) {
      let name = name.withVisibleControls
      let indent = String(repeating: " ", count: nameWidth + 2)
      let place = queue == "default" ? "" : ", in the queue \(queue)"
      let mark = state == "waiting" ? "" : screen.coloured(state, state == "failed" ? .red : .yellow) + "  "
      let rest = [
        mark + (words + place).withVisibleControls, times(now).withVisibleControls, "runs \(title.withVisibleControls)",
      ]
      for (index, line) in rest.enumerated() where !line.isEmpty {
        let head = index == 0 ? name.padded(nameWidth) + "  " : indent
        screen.line(head + line)
      }
    }

    /// What became of it, as in "goes on, on Mon 2026-11-23 04:00, Europe/Berlin".
    var stateInWords: String {
      guard state == "waiting" else { return state }
      let time = next.first.map { ", on \($0.onTheWall(of: zone))" } ?? ""
      return "goes on\(time)" + (timeZone.map { ", \($0)" } ?? "")
    }

    private func times(_ now: Date) -> String {
      if state == "failed" { return reason ?? "" }
      guard let first = next.first else { return "" }
      // Beside one that has seconds, all have them.
      let withSeconds = next.contains { $0.timeIntervalSince1970.truncatingRemainder(dividingBy: 60) != 0 }
      let dates = next.map { $0.onTheWall(of: zone, withSeconds: withSeconds) }.joined(separator: ", ")
      if state == "paused" { return "would come next on \(dates)" }
      return first <= now ? "due; \(dates)" : "in \(Duration.seconds(first.timeIntervalSince(now)).roughly): \(dates)"
    }
  }

  extension Date {
    /// As in "Mon 2026-11-23 04:00"; with the seconds if there are some.
    func onTheWall(of zone: TimeZone, withSeconds: Bool = false) -> String {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: self)
      func two(_ number: Int?) -> String { String("0\(number ?? 0)".suffix(2)) }
      let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][(parts.weekday ?? 1) - 1]
      let seconds = parts.second == 0 && !withSeconds ? "" : ":\(two(parts.second))"
      return
        "\(day) \(parts.year ?? 0)-\(two(parts.month))-\(two(parts.day)) \(two(parts.hour)):\(two(parts.minute))\(seconds)"
    }
  }

  /// What became of one, in a stream.
  struct ScheduleLine: Encodable {
    var event = "schedule"
    var schedule: ScheduleRecord
  }
#endif
