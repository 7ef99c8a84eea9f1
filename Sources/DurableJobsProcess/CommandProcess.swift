#if Process
  import DurableJobs
  import Foundation

  /// The process that is to become the command, a child of this one: it runs the ``Launcher`` first.
  struct CommandProcess {
    let number: pid_t
    /// What it writes, to be read here.
    let stdout: Int32
    let stderr: Int32
    /// Comes to its end when the process has ended.
    let ending: Int32
    /// Where the launcher says what keeps it from becoming the command.
    private let trouble: Int32

    init(_ order: RunOrder) throws {
      let input = try Descriptors.pipe()
      let output = try Descriptors.pipe()
      let error = try Descriptors.pipe()
      let trouble = try Descriptors.pipe()
      let ending = try Descriptors.pipe()
      defer { for end in [input.read, output.write, error.write, trouble.write] { close(end) } }
      number = try Self.start([input.read, output.write, error.write, trouble.write])
      stdout = output.read
      stderr = error.read
      self.trouble = trouble.read
      self.ending = ending.read
      Thread.detachNewThread { [number] in
        // It stays a zombie, and its number its own, until it is reaped.
        var information = siginfo_t()
        while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        close(ending.write)
      }
      _ = try JSONEncoder().encode(order).withUnsafeBytes { Descriptors.write($0, to: input.write) }
      close(input.write)
    }

    /// To the whole group, which this process leads, and to the command also where it has left that.
    func send(_ signal: Int32, hasEnded: Bool) {
      if signal != SIGKILL { kill(0, signal) }
      guard !hasEnded else { return }
      if signal == SIGKILL { kill(number, signal) }
      CommandHolder.sendToEscapee(number, from: getpgrp(), signal)
    }

    /// How it ended. Once ``ending`` has come to its end.
    func reap() -> SupervisorReport.Ending {
      var status: Int32 = 0
      while waitpid(number, &status, 0) < 0, errno == EINTR {}
      let said = FileHandle(fileDescriptor: trouble, closeOnDealloc: true)
      if let data = try? said.readToEnd(), let trouble = try? JSONDecoder().decode(LaunchTrouble.self, from: data) {
        return .notStarted(trouble)
      }
      let signal = status & 0x7f
      return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    }

    /// This program again, as launcher, with these as its first descriptors and no other.
    private static func start(_ descriptors: [Int32]) throws -> pid_t {
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let flags = POSIX_SPAWN_CLOEXEC_DEFAULT
      #else
        // All that this process has opened is closed by exec.
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let flags = 0
      #endif
      posix_spawn_file_actions_init(&actions)
      posix_spawnattr_init(&attributes)
      defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
      }
      posix_spawnattr_setflags(&attributes, Int16(flags))
      for (number, descriptor) in descriptors.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      }
      let variables = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
      let arguments: [String] = [Program.path, Launcher.argument]
      var words = arguments.map { strdup($0) } + [nil]
      var settings = variables.map { strdup($0) } + [nil]
      defer { for text in words + settings { free(text) } }
      var number: pid_t = 0
      let code = posix_spawn(&number, Program.path, &actions, &attributes, &words, &settings)
      guard code == 0 else { throw SystemError("can't start a process for the command", code) }
      return number
    }
  }
#endif
