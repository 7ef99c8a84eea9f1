#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct ConstraintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "constraint",
      abstract: "Show what jobs may require, and say by hand whether it holds.",
      discussion: """
        A job that requires something runs only while that holds: because its worker says so, or because it was set here, \
        for all workers on the store. A name of your own holds once it is set.

        durable add --requires office-hours -- ./report.sh
        durable constraint set office-hours yes
        """,
      subcommands: [List.self, Set.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show what is required, set or provided, and whether it holds.")

      @OptionGroup var options: StoreOptions

      func run() async throws {
        let constraints = try await options.existing()?.constraints() ?? []
        if options.json { return Screen.out.json(constraints) }
        if constraints.isEmpty { return Screen.out.line("nothing is required, set or provided") }
        let width = constraints.map { $0.name.withVisibleControls.columns }.max() ?? 0
        for constraint in constraints {
          Screen.out.line("\(constraint.name.withVisibleControls.padded(width))  \(constraint.words)")
        }
      }
    }

    struct Set: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Say whether it holds, for all workers; or leave it to them again.")

      @Argument(help: ArgumentHelp("The constraint.", valueName: "name")) var name: String
      @Argument(help: ArgumentHelp("yes, no, or clear.", valueName: "yes|no|clear")) var value: Value
      @OptionGroup var options: StoreOptions

      enum Value: String, ExpressibleByArgument, CaseIterable {
        case yes, no, clear
      }

      func run() async throws {
        let setting = StoreSetting.constraint(
          JobConstraint(rawValue: name), satisfied: value == .clear ? nil : value == .yes)
        try setting.check()
        let store = try await options.open()
        try await store.store.configure([setting])
        guard let record = try await store.constraints(and: name).first(where: { $0.name == name }) else { return }
        if options.json {
          Screen.out.json(record)
        } else {
          Screen.out.line("\(name.withVisibleControls): \(record.words)")
        }
      }
    }
  }

  /// What is known of a condition.
  struct ConstraintRecord: Encodable {
    var name: String
    /// By hand, for all workers.
    @OrNull var set: Bool?
    /// Workers for which it holds by what they know themselves, and others that speak of it.
    var satisfied: Int
    var absent: Int
    /// Unfinished jobs that require it.
    var jobs: Int

    /// For one worker at least.
    var holds: Bool { self.set ?? (satisfied > 0) }

    var words: String {
      let required = jobs == 0 ? "" : ", required by \(jobs.jobs)"
      let state =
        switch (set, satisfied, absent) {
        case (let set?, _, _): "\(set ? "holds" : "does not hold"), set by hand"
        case (nil, 0, 0): "no worker provides it"
        case (nil, 0, _): "does not hold"
        case (nil, _, 0): "holds"
        case (nil, _, _): "holds for \(satisfied) of \(satisfied + absent) workers"
        }
      return state + required
    }
  }

  extension OpenStore {
    /// All that is required, set or provided, by name; and that one.
    func constraints(and name: String? = nil) async throws -> [ConstraintRecord] {
      let (set, required) = (try await store.settings().constraints, try await store.required())
      let workers = try await store.workers().filter { $0.standing == .alive }
      let names = workers.reduce(into: Swift.Set(set.keys).union(required.keys)) {
        $0.formUnion($1.satisfied.union($1.absent))
      }
      return names.union(name.map { [JobConstraint(rawValue: $0)] } ?? []).sorted().map { name in
        ConstraintRecord(
          name: name.rawValue, set: set[name], satisfied: workers.count { $0.satisfied.contains(name) },
          absent: workers.count { $0.absent.contains(name) }, jobs: required[name] ?? 0)
      }
    }
  }
#endif
