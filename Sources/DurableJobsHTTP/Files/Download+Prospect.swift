#if HTTP
  import Foundation

  extension Download {
    /// What will happen to the bytes that are here when the download continues.
    package enum Prospect: Comparable, Sendable {
      case goesOn
      /// The server does not say that it supports ranges.
      case mayBeginAnew
      case beginsAnew
    }

    /// By the records of its parts. Without any, there is nothing to lose.
    package var prospect: Prospect {
      guard let folder = try? Folder(path: folder) else { return .goesOn }
      return partRecords(in: folder).map { $0.prospect(hasChecksum: sha256 != nil) }.min() ?? .goesOn
    }

    /// Its own records, under any name that its parts may have before the server is asked.
    func partRecords(in folder: Folder) -> [PartRecord] {
      let url = url.withoutCredentials
      let name = name.flatMap { FileName(exactly: $0) } ?? FileName(of: self.url)
      let own = name.apart(for: url)
      return [name, name.new, own, own.new].compactMap(folder.record).filter { $0.url == url }
    }
  }

  extension Folder {
    /// What is recorded of the part of that name, by whomever.
    func record(of name: FileName) -> PartRecord? {
      (try? open(name.record, O_RDONLY)).flatMap { $0 }.flatMap { try? $0.read(path(of: name.record)) }
        .flatMap { PartRecord($0) }
    }
  }

  extension PartRecord {
    /// Whether it can be verified that further bytes belong to those that are here.
    func canGoOn(hasChecksum: Bool) -> Bool { !isDecoded && (hasChecksum || version.validator != nil) }

    func prospect(hasChecksum: Bool) -> Download.Prospect {
      guard canGoOn(hasChecksum: hasChecksum) else { return .beginsAnew }
      return switch takesRanges {
      case true: .goesOn
      case nil: .mayBeginAnew
      case false: .beginsAnew
      }
    }
  }
#endif
