#if Process
  import Foundation

  /// The holder of a command's lock: the process that is the command, and its session, which its supervisor leads.
  ///
  /// Process numbers are reused, so each is stored with the start of its process. While anything of a session lives,
  /// its number is not reused; a process with that number that started at another time means that the session is gone.
  struct CommandHolder: Codable, Equatable, Sendable {
    struct Mark: Codable, Equatable, Sendable {
      var number: pid_t
      var start: UInt64
    }

    /// Tells this boot of the machine from others, and this PID namespace too.
    var machine: String
    var session: Mark
    var command: Mark
    /// The processes that have strayed from it, as far as they were found.
    var strays: [Stray]?
    /// The file that it holds, by device and number, of which the number counts. What is written in a copy of that, beside a
    /// copy of the store, says nothing of the copy. Nil in locks of older versions.
    var file: String?

    /// Ignores the strays, which may be found later: identity alone decides.
    static func == (left: CommandHolder, right: CommandHolder) -> Bool {
      (left.machine, left.session, left.command) == (right.machine, right.session, right.command)
    }

    /// The names as they are in locks written before the properties were renamed.
    private enum CodingKeys: String, CodingKey {
      case machine
      case session = "group"
      case command
      case strays
      case file
    }

    /// This process, which is about to become the command. Nil if its supervisor no longer exists.
    static var thisProcess: CommandHolder? {
      let (own, session) = (getpid(), getsid(0))
      guard getppid() == session, let leader = ProcessEntry(session), let command = ProcessEntry(own) else {
        return nil
      }
      return CommandHolder(
        machine: currentMachine, session: Mark(number: session, start: leader.start),
        command: Mark(number: own, start: command.start))
    }

    /// From this boot of the machine and this PID namespace: others can't be examined from here.
    var isOfThisSpace: Bool { machine == Self.currentMachine }

    /// From this boot but another PID namespace, such as another container: only there it is known what lives.
    var isOfOtherSpace: Bool {
      !isOfThisSpace && machine.split(separator: " ").first == Self.currentMachine.split(separator: " ").first
    }

    /// Whether the command, anything of its session or a stray lives, apart from `exception`.
    func lives(besides exception: pid_t? = nil) -> Bool {
      isOfThisSpace
        && (commandLives || sessionLives(besides: exception) || (strays ?? []).contains(where: \.lives))
    }

    /// Those of them that live and can be identified.
    var living: [pid_t] {
      guard isOfThisSpace else { return [] }
      let session = sessionLives(besides: nil) ? ProcessEntry.session(session.number).filter { !$0.hasEnded } : []
      return (commandLives ? [command.number] : []) + session.map(\.number)
        + (strays ?? []).filter(\.lives).map(\.number)
    }

    /// Sends a signal to everything of it that lives, and to no stranger: a session without its leader may belong to
    /// others by now, as may that of a daemon, unless its command is in it or a process in it holds the file `lock`.
    func send(_ signal: Int32, holding lock: String) {
      guard isOfThisSpace else { return }
      if session.number > 1, session.number != getsid(0), isKnown(lock) {
        ProcessEntry.send(signal, to: -session.number)
        ProcessEntry.send(signal, toSession: session.number, besides: session.number)
      }
      if command.number > 1, commandLives { Self.sendToEscapee(command.number, from: session.number, signal) }
    }

    /// Looks for its strays, unless it may be a stranger by now.
    func find(_ strays: inout CommandStrays, holding lock: String) {
      guard isOfThisSpace else { return }
      strays.add(self.strays ?? [])
      if session.number > 1, session.number != getsid(0), isKnown(lock) { strays.find(session: session.number) }
    }

    /// Asks the leader of the session to end it, if that is a living supervisor. Returns whether it was asked.
    func askLeader(if isSupervisor: Bool) -> Bool {
      guard isSupervisor, isOfThisSpace, session.number > 1, let leader = ProcessEntry(session.number),
        leader.start == session.start, !leader.hasEnded, kill(session.number, SIGTERM) == 0
      else { return false }
      // Its command may have stopped it.
      kill(session.number, SIGCONT)
      return true
    }

    /// Sends a signal to a process that has left `session`, and also to the group that it leads now.
    static func sendToEscapee(_ process: pid_t, from session: pid_t, _ signal: Int32) {
      guard getsid(process) != session else { return }
      ProcessEntry.send(signal, to: getpgid(process) == process ? -process : process)
    }

    private var commandLives: Bool {
      guard ProcessEntry.isSomeone(command.number) else { return false }
      // A process that can't be examined is assumed to be it: waiting in vain is better than a twin.
      guard let entry = ProcessEntry(command.number) else { return ProcessEntry.isSomeone(command.number) }
      return entry.start == command.start && !entry.hasEnded
    }

    private func sessionLives(besides exception: pid_t?) -> Bool {
      if let leader = ProcessEntry(session.number) {
        guard leader.start == session.start else { return false }
        if !leader.hasEnded, leader.number != exception { return true }
      }
      let members = ProcessEntry.session(session.number)
      if members.isEmpty, ProcessEntry.isSomeone(-session.number) { return true }
      if members.contains(where: { !$0.hasEnded && $0.number != exception }) { return true }
      // Of the command's group there may be processes left that are not visible here, such as another user's.
      return ProcessEntry.isSomeone(-command.number)
        && ProcessEntry(command.number).map { $0.start == command.start } ?? true
        && !ProcessEntry.all().contains { $0.group == command.number }
    }

    /// While anything of a session lives, its number is not reused.
    private func isKnown(_ lock: String) -> Bool {
      if let leader = ProcessEntry(session.number) { return leader.start == session.start }
      if let entry = ProcessEntry(command.number), entry.start == command.start, entry.session == session.number {
        return true
      }
      var file = stat()
      return stat(lock, &file) == 0 && ProcessEntry.session(session.number).contains { $0.holds(file) }
    }

    static let currentMachine = Machine().text
  }
#endif
