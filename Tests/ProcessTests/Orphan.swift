#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// A command of a job under a supervisor that is nobody's: as a worker has left it that is stopped, or, once the life
  /// line was cut, dead.
  struct Orphan {
    let supervisor: ChildProcess
    let folder: JobFolder
    private let lifeLine = Pipe()
    private let said = Pipe()

    init(_ id: JobID, _ line: String, _ place: Place) throws {
      folder = JobFolder(id, in: place.store)
      try folder.create()
      try CommandRemains(place.store).note(id)
      let command = ShellCommand([line], in: place.folder, shell: true)
      let run = try folder.beginRun(attempt: 1)
      let order = try JSONEncoder().encode(RunOrder(command: command, folder: folder, run: run.number))
      supervisor = try ChildProcess(
        "/bin/sh", ["-c", "setsid '\(Place.probe)' supervise-command; :"],
        input: lifeLine.fileHandleForReading.fileDescriptor, output: said.fileHandleForWriting.fileDescriptor)
      try said.fileHandleForWriting.close()
      try lifeLine.fileHandleForWriting.write(contentsOf: order + Data("\n".utf8))
    }

    /// As the death of its worker does.
    func end() throws { try lifeLine.fileHandleForWriting.close() }

    /// What the supervisor says at its end.
    func report() async throws -> SupervisorReport {
      let told = await onThread { [said] in (try? said.fileHandleForReading.readToEnd()) ?? Data() }
      return try #require(SupervisorReport(told))
    }
  }
#endif
