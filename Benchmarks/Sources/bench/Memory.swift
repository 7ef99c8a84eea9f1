import ArgumentParser
import DurableJobs
import DurableJobsSQLite
import Foundation

/// What a process needs that works on a database full of waiting jobs.
struct Memory: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var waiting = 1_000_000
  @Option var jobs = 10_000

  func run() async throws {
    let scratch = try Scratch(in: place.dir)
    defer { scratch.delete() }
    let fill = try Child(["fill", "--store", scratch.path, "--in-the-way", "0", "--jobs", "\(waiting)"])
    try fill.finish()
    let run = try figures(of: ["backlog", "--store", scratch.path, "--jobs", "\(jobs)"])
    var figures = Figures("memory")
    figures.set("waiting", waiting)
    figures.set("peak_mib", run["peak_mib"] ?? 0)
    try figures.print()
  }
}
