#if Shell
  import ArgumentParser
  import DurableJobs

  /// `durable add -- CMD ARG…` without any option, as scripts call it in loops. For the parser to learn that nothing was
  /// typed takes a sixth of the time of all, so it is not asked. Each option is here what it is where it is not given: one
  /// that is forgotten ends the program, and a test, when it is read.
  extension AddCommand {
    /// The command that these words of the program are, if they have no option. What is wrong with others is for the
    /// parser to say.
    static func plain(_ arguments: [String]) -> AddCommand? {
      guard arguments.count > 3, arguments[1...2] == ["add", "--"] else { return nil }
      _ = CommandWords.parting(Array(arguments.dropFirst()))
      var add = Self()
      (add.place, add.job, add.options) = (.untyped, .untyped, .untyped)
      (add.list, add.follow, add.command) = (nil, false, [])
      return add
    }
  }

  extension CommandArguments {
    fileprivate static var untyped: Self {
      var place = Self()
      (place.cwd, place.env, place.envAll, place.shell) = (nil, [], false, false)
      return place
    }
  }

  extension JobArguments {
    fileprivate static var untyped: Self {
      var job = Self()
      (job.delay, job.at, job.priority, job.maxAttempts, job.timeout) = (nil, nil, nil, nil, nil)
      (job.deadline, job.key, job.unique, job.requires, job.interruptWhenLost) = (nil, nil, nil, [], false)
      (job.lane, job.connections, job.queue) = (.untyped, .untyped, "default")
      return job
    }
  }

  extension LaneArguments {
    fileprivate static var untyped: Self {
      var lane = Self()
      (lane.lane, lane.laneGoesOn) = (nil, false)
      return lane
    }
  }

  extension ConnectionArguments {
    fileprivate static var untyped: Self {
      var connections = Self()
      (connections.after, connections.afterEnd, connections.afterFailure) = ([], [], [])
      (connections.batch, connections.tag) = (nil, [])
      return connections
    }
  }

  extension StoreOptions {
    fileprivate static var untyped: Self {
      var options = Self()
      (options.store, options.json) = (nil, false)
      return options
    }
  }
#endif
