#if Shell
  import Console
  import DurableJobsProcess

  ShellCommand.superviseIfAsked()
  await DemoCommand.runProgram()
#else
  import Foundation

  FileHandle.standardError.write(
    Data("durable-demo was built without what it shows. Build it with: swift build --traits Shell\n".utf8))
  exit(2)
#endif
