#if Shell
  import Console
  import DurableJobsProcess

  ShellCommand.superviseIfAsked()
  _ = BackgroundWorker.wasStarted
  if let add = AddCommand.plain(CommandLine.arguments) {
    await DurableCommand.runProgram(known: add, atEnd: OpenStore.closeAll)
  }
  await DurableCommand.runProgram(
    reading: {
      CommandWords.joining(
        CommandWords.parting(SendCommand.partingJSON(GetCommand.partingHeaders(StoreOptions.afterVerb($0)))))
    }, otherNames: TypedOtherwise.commands, hint: TypedOtherwise.hint,
    checked: { try CommandWords.checkOthers(than: ($0 as? AddCommand)?.command ?? []) },
    printed: CompletionScript.completed
  ) {
    await OpenStore.closeAll()
  }
#else
  import Foundation

  FileHandle.standardError.write(
    Data("durable was built without its command line. Build it with: swift build --traits Shell\n".utf8))
  exit(2)
#endif
