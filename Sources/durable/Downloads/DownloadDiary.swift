#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// Which attempt of which job the news is of.
  struct JobAttempt: Hashable, Sendable {
    var job: JobID
    var queue: String
    var number: Int
    var of: Int
  }

  extension JobAttempt {
    init(_ context: JobContext) {
      self.init(job: context.id, queue: context.queue, number: context.attempt, of: context.maxAttempts)
    }
  }

  /// Makes of the news of downloads the lines that a worker says of them, with how much came in how long.
  struct DownloadDiary {
    private struct Course {
      var began: Duration
      /// Bytes that were there when it began.
      var first: Int64?
      /// What the file has not got, though it was asked for.
      var remark: String?
    }

    private var courses = RecentJobs<Course>()
    /// What was said last that a download waits for: while it waits for the same again and again, nothing is said of it.
    private var waits = RecentJobs<String>()

    /// The line for this event, if it is worth one.
    mutating func line(
      _ attempt: JobAttempt, _ download: Download, _ event: Downloader.Event, now: Duration, date: Date = Date()
    ) -> WorkLine? {
      let which = attempt.number > 1 ? "attempt \(attempt.number) of \(attempt.of)" : ""
      var line = WorkLine(id: attempt.job, mark: .start, title: download.url.withoutCredentials, detail: which)
      switch event {
      case .began:
        courses[attempt.job] = Course(began: now)
        return waits[attempt.job] == nil ? line : nil
      case .hasNoTurn:
        return nil
      case .remarked(let text):
        courses[attempt.job]?.remark = text
        return nil
      case .goesOn(let bytes):
        if courses[attempt.job]?.first == nil { courses[attempt.job]?.first = bytes }
        return nil
      case .received(let bytes, _):
        // It came from its beginning: perhaps anew, of another version.
        if bytes < courses[attempt.job]?.first ?? .max { courses[attempt.job]?.first = 0 }
        return nil
      case .waits(let reason, let time):
        courses[attempt.job] = nil
        let waited = waits[attempt.job]
        waits[attempt.job] = reason
        guard reason.withoutNumbers != waited?.withoutNumbers else { return nil }
        line.mark = .waits
        line.detail = "\(time.roughly): \(reason)"
        return line
      case .succeeded(let file):
        let course = courses.remove(attempt.job)
        waits[attempt.job] = nil
        let first = course?.first.flatMap { $0 <= file.size ? $0 : nil } ?? 0
        var line = WorkLine(id: attempt.job, file, came: file.size - first, in: course.map { now - $0.began })
        guard let remark = course?.remark else { return line }
        if file.wasThere {
          let age = Duration.seconds(date.timeIntervalSince1970 - Double(file.modified) / 1e9)
          // Else its time is another's.
          let isOurs = download.sha256 == nil && file.hasServerTime != true && age >= .zero
          line.detail = (isOurs ? "fetched \(age.roughly) ago; " : "") + "\(remark) (--overwrite fetches it anew)"
        } else {
          line.detail += "; \(remark)"
        }
        return line
      case .failed(let error, let isFinal, let retryAfter):
        (courses[attempt.job], waits[attempt.job]) = (nil, nil)
        line.fail(attempt, error.message, isFinal: isFinal, retryAfter)
        return line
      case .stopped:
        (courses[attempt.job], waits[attempt.job]) = (nil, nil)
        line.mark = .back
        line.detail = "goes on where it is"
        return line
      @unknown default:
        return nil
      }
    }
  }

  extension String {
    /// What is waited for stays the same while the free bytes of a disk change.
    var withoutNumbers: String { filter { !$0.isNumber } }
  }

  extension WorkLine {
    /// An attempt failed, and another may follow after that time.
    mutating func fail(_ attempt: JobAttempt, _ message: String, isFinal: Bool, _ retryAfter: Duration?) {
      let isLast = isFinal || attempt.number >= attempt.of
      mark = isLast ? .failed : .again
      let time = retryAfter.map { "in \($0.roughly), " } ?? ""
      detail = isLast ? message : "\(time)attempt \(attempt.number) of \(attempt.of): \(message)"
    }

    /// A download is done: so many of its bytes came in this time, if it is known.
    init(id: JobID, _ file: DownloadedFile, came: Int64? = nil, in time: Duration? = nil) {
      self.init(id: id, mark: .done, title: file.name)
      if file.wasThere {
        title = "already there: \(file.name)"
      } else if let came, let time {
        let amount = came == file.size ? came.asBytes : "\(file.size.asBytes), the last \(came.asBytes)"
        let speed = time.seconds >= 0.1 && came > 0 ? ", \((Double(came) / time.seconds).asSpeed)" : ""
        detail = "\(amount) in \(time.forPeople)\(speed)"
      } else {
        detail = file.size.asBytes
      }
    }
  }
#endif
