#if Process
  import Foundation

  /// Those of a command that have left its session while their parent in it lived, as what a shell starts by `setsid` and
  /// waits for. They are of the command. Who has left it and whose parent is gone is a daemon, and its own.
  ///
  /// To be looked for before their parents are told to end: later nobody tells whose they were.
  struct CommandStrays: Sendable {
    private var entries: [pid_t: ProcessEntry] = [:]
    private var areAsked = false

    /// Looks for those of the session with this leader.
    mutating func find(session leader: pid_t) {
      let all = ProcessEntry.all().filter { !$0.hasEnded }
      let children = Dictionary(grouping: all) { $0.parent }
      var rest = all.filter { $0.session == leader || entries[$0.number]?.start == $0.start }
      var family = Set(rest.map(\.number))
      while let next = rest.popLast() {
        for child in children[next.number] ?? [] where family.insert(child.number).inserted {
          rest.append(child)
          if child.session != leader { entries[child.number] = child }
        }
      }
    }

    var live: Bool { !living.isEmpty }

    /// Asks them to end, once, when nothing but the leader is left of the session: until then, who started them may do that.
    mutating func ask(afterSession leader: pid_t) {
      guard !areAsked, live, !ProcessEntry.session(leader).contains(where: { $0.number != leader && !$0.hasEnded })
      else { return }
      areAsked = true
      send(SIGTERM)
    }

    /// With the groups that they lead. Who was started by another of them is asked by that.
    func send(_ signal: Int32) {
      for process in living where signal == SIGKILL || entries[process.parent] == nil {
        kill(process.group == process.number ? -process.number : process.number, signal)
      }
    }

    /// A number may have become somebody else's.
    private var living: [ProcessEntry] {
      entries.values.compactMap { entry in
        ProcessEntry(entry.number).flatMap { $0.start == entry.start && !$0.hasEnded ? $0 : nil }
      }
    }
  }
#endif
