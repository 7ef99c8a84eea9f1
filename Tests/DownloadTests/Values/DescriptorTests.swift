#if HTTP
  import DurableJobs
  import Foundation
  import Testing

  @testable import DurableJobsHTTP

  /// What is written to files, where the disk has no room for it.
  @Suite struct DescriptorTests {
    @Test func `a lock that somebody else has on the same open file is theirs to give back`() throws {
      let folder = try TestFolder()
      let number = open(folder.path("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(number) }
      #expect(flock(number, LOCK_EX) == 0)
      do { _ = Descriptor(dup(number)) }
      let other = Descriptor(open(folder.path("lock"), O_RDWR | O_CLOEXEC))
      #expect(flock(other.number, LOCK_EX | LOCK_NB) != 0)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func `a line that a full disk halved is taken back, and the disk is told to be full`() throws {
      let folder = try TestFolder()
      let disk = try SmallDisk(in: folder, megabytes: 1)
      let number = open(folder.path("record"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      let file = Descriptor(number)
      let line = Data(repeating: UInt8(ascii: "a"), count: 3999) + Data("\n".utf8)
      try file.append(line, "record")
      let filler = Descriptor(open(folder.path("filler"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
      let error = #expect(throws: DownloadError.self) {
        for _ in 0..<2000 { try filler.append(Data(repeating: 1, count: 4096), "filler") }
      }
      #expect(error?.code == .noRoom && error?.message.hasSuffix("; free some space") == true)
      // Its page has room for a part of the next line.
      errno = 0
      let halved = #expect(throws: DownloadError.self) { try file.append(line, "record") }
      #expect(halved?.code == .noRoom, "\(String(describing: halved))")
      #expect(try file.read("record") == line)
      withExtendedLifetime(disk) {}
    }

    @Test func `what ends before its end was read became shorter, whatever the last error was`() throws {
      let folder = try TestFolder()
      try folder.write("12345", to: "a")
      let file = Descriptor(open(folder.path("a"), O_RDONLY | O_CLOEXEC))
      let reads: [() throws -> Void] = [
        { _ = try file.sha256(length: 10, "a") }, { _ = try file.read(10, at: 0, "a") },
      ]
      for read in reads {
        errno = EFBIG
        let error = #expect(throws: DownloadError.self) { try read() }
        #expect(error?.code == .disk)
        #expect(error?.message == "a became shorter while it was read")
      }
    }

    @Test(arguments: [ENAMETOOLONG, EROFS]) func `what no other attempt could write is told to be the folder's`(
      number: Int32
    ) {
      errno = number
      #expect(DownloadError.disk("name the file", "a").code == .unusableFolder)
    }

    #if os(Linux)
      @Test func `a time that can't be set is told, and what else is wrong is an error`() throws {
        typealias Make = @convention(c) (UInt32, Int32) -> Int32
        let make = try #require(dlsym(nil, "eventfd"))
        let timeless = Descriptor(unsafeBitCast(make, to: Make.self)(0, 0))
        #expect(try timeless.set(modified: Date(), "a.bin")?.hasPrefix("can't set the time of a.bin: ") == true)
        #expect(throws: DownloadError.self) { try Descriptor(-1).set(modified: Date(), "a.bin") }
      }
    #endif
  }
#endif
