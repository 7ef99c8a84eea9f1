#if os(Linux)
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsSQLite

  /// Folders that can't be written, met by a process of its own. Root may write what modes forbid: so that one mounts the
  /// folder for reading alone, where nobody else sees it, or becomes nobody.
  @Suite(.enabled("only root can mount a folder, or become another user") { getuid() == 0 }) struct ReadOnlyTests {
    let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private static let mountReadOnly = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\""

    private static let mayMount: Bool = {
      guard let folder = try? StoreFolder() else { return false }
      let mount = try? ChildProcess("/usr/bin/unshare", ["-m", "sh", "-c", mountReadOnly, "", folder.path])
      return mount?.wait() == .exited(0)
    }()

    /// How the probe is refused where the folder is mounted for reading alone.
    private func refusalOnReadOnlyMount(_ name: String = "jobs.sqlite") async throws -> [String] {
      let script = "\(Self.mountReadOnly) && exec \"$0\" open \"$1/$2\""
      let probe = try ProcessProbe(
        program: "/usr/bin/unshare", "-m", "sh", "-c", script, ProcessProbe.executable.path, folder.path, name)
      return try await probe.hear("refused")
    }

    private func expect(_ words: [String], _ code: JobError.Code, _ texts: String...) {
      #expect(words.first == "\(code)")
      let message = words.dropFirst().joined(separator: " ")
      for text in texts { #expect(message.contains(text), "\(message)") }
    }

    private func closedStore() async throws {
      let store = try folder.store()
      try await store.insert(.plain())
      await store.close()
    }

    @Test(.enabled("nothing can be mounted here") { mayMount })
    func `C72 A store on a read-only mount is told so, with its folder`() async throws {
      try await closedStore()
      let words = try await refusalOnReadOnlyMount()
      expect(
        words, .readOnly, folder.path(), "its folder \(folder.path) is", "mounted read-only", "choose another path")
    }

    @Test(.enabled("nothing can be mounted here") { mayMount })
    func `C72 A store that a process left open, on a read-only mount, is told so too`() async throws {
      let store = try folder.store()
      try await store.insert(.plain())
      let words = try await refusalOnReadOnlyMount()
      expect(words, .readOnly, "its folder \(folder.path) is", "mounted read-only")
      await store.close()
    }

    @Test(.enabled("nothing can be mounted here") { mayMount })
    func `C72 A new store on a read-only mount is told so, with its folder`() async throws {
      let words = try await refusalOnReadOnlyMount("new.sqlite")
      expect(words, .readOnly, folder.path("new.sqlite"), "its folder \(folder.path) is", "mounted read-only")
    }

    @Test func `C72 A store in a folder that the user may not write is told so, with what to do`() async throws {
      try await closedStore()
      let nobody: uid_t = 65534
      try FileManager.default.removeItem(atPath: folder.path() + "-durable")
      chown(folder.path(), nobody, nobody)
      let existing = try await ProcessProbe("open", folder.path(), "\(nobody)").hear("refused")
      expect(
        existing, .unusableFile, folder.path(), "you may not write in its folder \(folder.path) (", "Run as a user")
      let new = try await ProcessProbe("open", folder.path("new.sqlite"), "\(nobody)").hear("refused")
      expect(new, .unusableFile, folder.path("new.sqlite"), "in the folder \(folder.path):", "Make that writable")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["jobs.sqlite"])
    }
  }
#endif
