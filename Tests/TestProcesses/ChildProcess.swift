import DurableJobs
import Foundation

/// A process that a test started, in a process group of its own. It is killed with this value.
///
/// In place of Foundation's `Process`, whose `run` now and then reads beyond a buffer on Linux
/// (swift-corelibs-foundation, pull request 5472).
package final class ChildProcess: Sendable {
  package enum End: Hashable, Sendable {
    case exited(Int32)
    case killed(by: Int32)
  }

  package struct CannotStart: Error {
    package var program: String
    package var code: Int32
  }

  package let pid: pid_t
  private let reaped = Lock<End?>(nil)

  /// `input`, `output` and `error` are descriptors that the child gets; those of this process where they are nil. Of
  /// those that are open now it gets no other. `environment` is that of this process where it is nil.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String]? = nil, input: Int32? = nil,
    output: Int32? = nil, error: Int32? = nil
  ) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
      let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      let flags = POSIX_SPAWN_SETPGROUP
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, file) in [input, output, error].enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file ?? Int32(number), Int32(number))
    }
    #if !canImport(Darwin)
      let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      for file in open.compactMap({ Int32($0) }) where file > 2 { posix_spawn_file_actions_addclose(&actions, file) }
    #endif
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    var settings = variables.map { strdup($0) } + [nil]
    defer { for text in words + settings { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, program, &actions, &attributes, &words, &settings)
    guard code == 0 else { throw CannotStart(program: program, code: code) }
    self.pid = pid
  }

  deinit {
    send(SIGKILL)
    wait()
  }

  /// Does nothing to one that has ended.
  package func send(_ signal: Int32) {
    reaped.withLock { if $0 == nil { kill(pid, signal) } }
  }

  /// Its end, once that has come.
  @discardableResult
  package func wait() -> End { look(0) ?? .exited(-1) }

  /// The same on a thread of its own: those of Swift's pool are few, and every other test needs them.
  @discardableResult
  package func ended() async -> End { await onThread { [self] in wait() } }

  /// Returns when it has been stopped, as by SIGSTOP.
  package func stopped() async {
    await onThread { [pid] in
      var information = siginfo_t()
      while waitid(P_PID, id_t(pid), &information, WSTOPPED | WNOWAIT) != 0, errno == EINTR {}
    }
  }

  private func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }

  package var isRunning: Bool { look(WNOHANG) == nil }

  private func look(_ options: Int32) -> End? {
    // It stays a zombie, and its number its own, until the lock is held: a signal can't meet another process.
    var information = siginfo_t()
    if reaped.withLock({ $0 == nil }) {
      while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | options) != 0, errno == EINTR {}
    }
    return reaped.withLock { reaped in
      guard reaped == nil else { return reaped }
      var status: Int32 = 0
      guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
      let signal = status & 0x7f
      reaped = signal == 0 ? .exited(status >> 8 & 0xff) : .killed(by: signal)
      return reaped
    }
  }
}
