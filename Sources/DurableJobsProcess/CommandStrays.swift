#if Process
  import Foundation

  /// Processes of a command that left its session while their parent in it lived, as what a shell starts by `setsid`
  /// and waits for. They belong to the command. One whose parent is gone is an independent daemon.
  ///
  /// Look for them before their parents are told to end: afterwards nothing shows whose they were.
  struct CommandStrays: Sendable {
    private var noted: Set<Stray> = []
    private var areAsked = false

    /// Looks for those of the session with this leader.
    mutating func find(session leader: pid_t) {
      let all = ProcessEntry.all().filter { !$0.hasEnded }
      let children = Dictionary(grouping: all) { $0.parent }
      var rest = all.filter { $0.session == leader || noted.contains(Stray($0)) }
      var family = Set(rest.map(\.number))
      while let next = rest.popLast() {
        for child in children[next.number] ?? [] where family.insert(child.number).inserted {
          rest.append(child)
          if child.session != leader { noted.insert(Stray(child)) }
        }
        // For example what `sudo` has become, on systems where users don't see each other's processes.
        for child in ProcessEntry.hiddenChildren(of: next.number) where getsid(child) != leader {
          noted.insert(Stray(number: child, start: nil))
        }
      }
    }

    /// Adds those found by others, except any that can't be told from a later process of the same number.
    mutating func add(_ others: [Stray]) { noted.formUnion(others.filter { $0.start != nil }) }

    var living: [Stray] { noted.filter(\.lives).sorted { $0.number < $1.number } }

    /// Asks them to end, once.
    mutating func ask() {
      guard !areAsked, !living.isEmpty else { return }
      areAsked = true
      send(SIGTERM)
    }

    /// The same once only the leader is left of the session: until then, their parents may do that.
    mutating func ask(afterSession leader: pid_t) {
      guard !areAsked, !ProcessEntry.session(leader).contains(where: { $0.number != leader && !$0.hasEnded })
      else { return }
      ask()
    }

    /// Includes the groups that they lead. A stray that another of them started is asked by that.
    func send(_ signal: Int32) {
      let living = living.filter(\.isKnown)
      let numbers = Set(living.map(\.number))
      for stray in living {
        if signal != SIGKILL, let entry = ProcessEntry(stray.number), numbers.contains(entry.parent) { continue }
        ProcessEntry.send(signal, to: getpgid(stray.number) == stray.number ? -stray.number : stray.number)
      }
    }
  }

  /// A stray process. A number may be reused, so the start of its process is stored with it.
  struct Stray: Codable, Hashable, Sendable {
    let number: pid_t
    /// Nil if the system does not show it, such as a process of another user.
    let start: UInt64?

    /// A process that can't be examined is assumed to be it: waiting in vain is better than a twin.
    var lives: Bool {
      // A damaged lock may say any number.
      guard number > 1, ProcessEntry.isSomeone(number) else { return false }
      guard let start, let entry = ProcessEntry(number) else { return ProcessEntry.isSomeone(number) }
      return entry.start == start && !entry.hasEnded
    }

    /// Of one that was not shown and is now, nothing tells that it is it: it may be a stranger's, and gets no signal.
    var isKnown: Bool { start != nil || ProcessEntry(number) == nil }
  }

  extension Stray {
    fileprivate init(_ entry: ProcessEntry) { self.init(number: entry.number, start: entry.start) }
  }
#endif
