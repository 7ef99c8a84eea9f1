#if Shell
  await DurableCommand.start()
#else
  import Foundation

  FileHandle.standardError.write(
    Data("durable was built without its command line. Build it with: swift build --traits Shell\n".utf8))
  exit(2)
#endif
