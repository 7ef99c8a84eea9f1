import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite("The folder beside a database")
struct ProcessFolderTests {
  @Test("It stands beside the database, also where that is reached by a link, and is private")
  func besideTheDatabase() throws {
    let meeting = try ProcessMeeting()
    let link = meeting.home + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: meeting.databasePath)
    let path = try MeetingFolder(databasePath: link).path
    #expect(path.hasSuffix("/jobs.sqlite-durable"))
    #expect(path == meeting.folder.path)
    #expect(try mode(path) == 0o700)
    let guest = try meeting.join()
    for file in meeting.folder.files() { #expect(try mode(path + "/" + file) == 0o600) }
    guest.session.close()
  }

  @Test("Where its path is too long for sockets, it is a temporary folder, and all processes find the same one")
  func longPaths() async throws {
    let meeting = try ProcessMeeting(folderName: String(repeating: "long", count: 30))
    #expect(!meeting.folder.path.hasPrefix(meeting.home))
    #expect(try mode(meeting.folder.path) == 0o700)
    let probe = try ProcessProbe("meet", meeting.databasePath)
    #expect(try await probe.hear("session")[1] == meeting.folder.path)
    let guest = try meeting.join()
    try probe.tell("post 1")
    #expect(await guest.nextSignal() == .work)
    let other = try ProcessMeeting(folderName: String(repeating: "long", count: 30))
    #expect(other.folder.path != meeting.folder.path)
  }

  @Test("Where it is too long there as well, it is beside the database, and who lives is seen by the locks alone")
  func noSockets() async throws {
    let meeting = try ProcessMeeting(folderName: String(repeating: "long", count: 30))
    let folder = try MeetingFolder(
      databasePath: meeting.databasePath, temporaryFolder: "/tmp/\(String(repeating: "long", count: 24))/")
    #expect(folder.path.hasPrefix(meeting.home) && folder.path.hasSuffix("/jobs.sqlite-durable"))
    let (died, deaths) = AsyncStream<String>.makeStream()
    func join() throws -> ProcessSession {
      try ProcessSession(folder: folder, onSignal: { _ in }, onDeath: { deaths.yield($0) })
    }
    let (first, second) = (try join(), try join())
    #expect(Set(folder.files()) == ["\(first.name).lock", "\(second.name).lock"])
    folder.postbox.post(.work, except: first.name)
    #expect(folder.standing(of: first.name).isAlive && folder.standing(of: second.name).isAlive)
    first.close()
    #expect(folder.standing(of: first.name).isUnknown)
    second.close(.asDead)
    #expect(folder.standing(of: second.name).deadSession != nil)
    let third = try join()
    #expect(await died.first { _ in true } == second.name)
    third.close()
  }

  @Test("One that others can read, or something else of its name, is refused, and the error says what to do")
  func unsuitableFolder() throws {
    let meeting = try ProcessMeeting()
    chmod(meeting.folder.path, 0o755)
    #expect(refusal(of: meeting.databasePath).contains("chmod 700 "))
    rmdir(meeting.folder.path)
    try Data().write(to: URL(fileURLWithPath: meeting.folder.path))
    #expect(refusal(of: meeting.databasePath).contains("in the way"))
    #expect(refusal(of: meeting.home + "/none").contains("no database"))
  }

  @Test("Where it was removed, who comes makes it again")
  func removedFolder() throws {
    let meeting = try ProcessMeeting()
    try FileManager.default.removeItem(atPath: meeting.folder.path)
    let guest = try meeting.join()
    #expect(meeting.folder.standing(of: guest.session.name).isAlive)
    #expect(try mode(meeting.folder.path) == 0o700)
    guest.session.close()
  }

  @Test("A folder of another user is refused", .enabled(if: geteuid() == 0, "only root can give a folder away"))
  func foreignFolder() throws {
    let meeting = try ProcessMeeting()
    chown(meeting.folder.path, 4711, 4711)
    #expect(refusal(of: meeting.databasePath).contains("belongs to user 4711"))
  }

  @Test("Who is there is read again only when the folder has changed")
  func listingIsKept() throws {
    let meeting = try ProcessMeeting()
    let path = meeting.folder.path
    try setModified(path, year: 2001)
    #expect(meeting.folder.postbox.sessions == [])
    try Data().write(to: URL(fileURLWithPath: path + "/0123abcd.lock"))
    try setModified(path, year: 2001)
    #expect(meeting.folder.postbox.sessions == [], "the folder seems unchanged")
    try setModified(path, year: 2002)
    #expect(meeting.folder.postbox.sessions != [])
    #expect(meeting.folder.postbox.sessions == ["0123abcd"])
  }

  @Test("A list that was read within the step of the file system's clock is not relied on")
  func freshListingIsReadAgain() throws {
    let meeting = try ProcessMeeting()
    let path = meeting.folder.path
    try setModified(path, year: 2090)
    #expect(meeting.folder.postbox.sessions == [])
    try Data().write(to: URL(fileURLWithPath: path + "/0123abcd.lock"))
    try setModified(path, year: 2090)
    #expect(meeting.folder.postbox.sessions != [])
  }

  @Test("Remains of who died while it came or left are removed, and no living session's files")
  func remainsAreRemoved() async throws {
    let meeting = try ProcessMeeting()
    let guest = try meeting.join()
    meeting.folder.postbox.post(.work, to: guest.session.name)
    #expect(await guest.nextSignal() == .work, "it has tidied up itself")
    let own = Set(["lock", "sock", "life"].map { "\(guest.session.name).\($0)" })
    let beginning = try #require(
      FileLock.file(at: meeting.folder.path + "/0123abcd.new", creating: O_CREAT))
    #expect(FileLock.take(beginning))
    for name in ["0123abcd.sock", "89abcdef.new", "89abcdef.sock", "01010101.life", "turn"] {
      try Data().write(to: URL(fileURLWithPath: meeting.folder.path + "/" + name))
    }
    withExtendedLifetime(beginning) { SessionFiles.removeRemains(in: meeting.folder) }
    #expect(Set(meeting.folder.files()) == own.union(["0123abcd.new", "0123abcd.sock", "turn"]))
  }

  private func setModified(_ path: String, year: Int) throws {
    let date = Date(timeIntervalSince1970: Double(year - 1970) * 365.25 * 86400 + 0.25)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func refusal(of databasePath: String) -> String {
    let error = #expect(throws: JobError.self) { try MeetingFolder(databasePath: databasePath) }
    #expect(error?.code == .unusableFile)
    return error?.message ?? ""
  }
}
