#if HTTP
  import DurableJobs

  /// The second names in the folders of downloads. Of a long list each file may ask for them: a folder is not read for each.
  final class SecondNames: Sendable {
    private struct Listing {
      let time: Duration
      let names: [String]
    }

    private static let patience = Duration.seconds(1)
    private let listings = Lock<[String: Listing]>([:])

    /// As they were a second ago at most. One that is missed is found with the next file.
    func all(in folder: Folder, at now: Duration) -> [String] {
      if let listing = listings.value[folder.path], now - listing.time < Self.patience { return listing.names }
      let names = folder.names(where: FileName.isAnyMark)
      listings.withLock { listings in
        listings = listings.filter { now - $0.value.time < Self.patience }
        listings[folder.path] = Listing(time: now, names: names)
      }
      return names
    }
  }
#endif
