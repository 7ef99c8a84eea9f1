#if HTTP
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsSQLite
  import Foundation

  // A process for tests to kill: downloads URLs into a folder as jobs of a store, until nothing is left to do.
  //
  //     DownloadProbe STORE FOLDER URL [sha256=HEX | name=NAME]…
  //
  // It prints a line for the job and one for its end, and at last the most memory that it used, in kilobytes.

  func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  let arguments = CommandLine.arguments
  var configuration = SQLiteStore.Configuration()
  // How often a job may take its process along is not what these tests are about.
  configuration.policy.maxCrashesInRow = 1000
  configuration.policy.maxCrashes = 1000
  configuration.policy.crashBackOff = BackOff(base: .milliseconds(1), factor: 1, cap: .milliseconds(1))
  // No machine is too slow.
  let asLongAsItTakes = Duration.seconds(864_000)
  configuration.busyTimeout = asLongAsItTakes
  let store = try SQLiteStore(path: arguments[1], configuration: configuration)
  let queue = JobQueue(store: store)
  let worker = JobWorker(queue)
  let limits = Downloader.Limits(slowFor: asLongAsItTakes, connectTimeout: asLongAsItTakes)
  Downloader(store: store, limits: limits, environment: [:]).register(with: worker)

  var download = Download(from: URL(string: arguments[3])!, to: URL(filePath: arguments[2]))
  for argument in arguments.dropFirst(4) {
    let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
    switch parts[0] {
    case "sha256": download.sha256 = parts[1]
    case "name": download.name = parts[1]
    default: fatalError("unknown argument \(argument)")
    }
  }
  let handle = try await queue.enqueue(download)
  say("job \(handle.id) \(handle.isNew ? "new" : "old")")
  try await worker.runUntilIdle()
  do {
    let file = try await handle.value
    say("done \(file.wasThere ? "there" : "fetched") \(file.path)")
  } catch {
    say("failed \(error)")
  }
  let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let peak = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst().first
  say("memory \(peak ?? "0")")
#endif
