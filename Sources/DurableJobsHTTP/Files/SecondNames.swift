#if HTTP
  import DurableJobs

  /// The second names in the folders of downloads. Of a long list each file may ask for them: a folder is not read for
  /// each, and a large one less often.
  final class SecondNames: Sendable {
    private struct Listing {
      var names: [String] = []
      /// Until when nobody reads the folder again.
      var end: Duration?
    }

    private let listings = Lock<[String: Lock<Listing>]>([:])

    /// As they were a second ago at most, or fifty times as long as it takes to read them. One that is missed is found with
    /// the next file. Blocks while another download reads the folder.
    func all(in folder: Folder, by clock: some JobClock) -> [String] {
      let listing = listings.withLock { listings in
        if let listing = listings[folder.path] { return listing }
        // Most lists have one folder.
        if listings.count > 15 { listings = [:] }
        let listing = Lock(Listing())
        listings[folder.path] = listing
        return listing
      }
      return listing.withLock { listing in
        let start = clock.uptime
        if let end = listing.end, start < end { return listing.names }
        listing.names = folder.names(where: FileName.isAnyMark)
        let now = clock.uptime
        listing.end = now + max(.seconds(1), (now - start) * 50)
        return listing.names
      }
    }
  }
#endif
