#if HTTP
  import DurableJobsTesting
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  @Suite struct SecondNamesTests {
    @Test func `a folder is read once a second, for all that look for its second names`() throws {
      let (here, clock, names) = (try TestFolder("names"), ManualClock(), SecondNames())
      let folder = try Folder(path: here.url.path)
      try here.write("", to: "a.bin~00000000.new.part")
      try here.write("", to: "a.bin")
      #expect(names.all(in: folder, by: clock) == ["a.bin~00000000.new.part"])
      try here.write("", to: "b.bin~00000000.new.part")
      #expect(names.all(in: folder, by: clock).count == 1)
      clock.advance(by: .seconds(1))
      #expect(names.all(in: folder, by: clock).count == 2)
    }
  }
#endif
