import Foundation

/// A file descriptor that is closed with its only owner and never shared with a child process, also after a plain fork.
final class Descriptor: Sendable {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
    Forks.between { Forks.note(number, isOpen: true) }
  }

  private init(noted number: Int32) { self.number = number }

  /// Opens a descriptor with no fork in between; nil if `open` returns less than 0, with the reason in `errno`.
  static func opened(by open: () -> Int32) -> Descriptor? {
    let number = Forks.between {
      let number = open()
      if number >= 0 { Forks.note(number, isOpen: true) }
      return number
    }
    return number < 0 ? nil : Descriptor(noted: number)
  }

  deinit {
    Forks.between {
      Forks.note(number, isOpen: false)
      _ = close(number)
    }
  }
}

/// Handling of descriptors in a child that continues after `fork`. It would share locks and connections, and make its
/// parent look alive. So in the child each descriptor is redirected to `/dev/null`, where its owner can still close it.
private enum Forks {
  // Checked by hand: accessed with `lock` held, which a fork also holds, or by the only thread of a child.
  // Indexed by the descriptor's number.
  nonisolated(unsafe) private static var isOpen = UnsafeMutableBufferPointer<Bool>.allocate(capacity: 0)
  private static let lock = NSLock()
  private static let isInstalled: Void = {
    pthread_atfork({ Forks.lock.lock() }, { Forks.lock.unlock() }) {
      Forks.letGo()
      Forks.lock.unlock()
    }
  }()

  /// Runs `body` while no thread can fork.
  static func between<R>(_ body: () -> R) -> R {
    isInstalled
    return lock.withLock(body)
  }

  /// Call inside ``between(_:)``.
  static func note(_ number: Int32, isOpen isNowOpen: Bool) {
    let index = Int(number)
    if index >= isOpen.count {
      let larger = UnsafeMutableBufferPointer<Bool>.allocate(capacity: index * 2 + 64)
      larger.initialize(repeating: false)
      for (index, value) in isOpen.enumerated() { larger[index] = value }
      isOpen.deallocate()
      isOpen = larger
    }
    isOpen[index] = isNowOpen
  }

  /// Only makes system calls, as a child forked from a process with several threads must.
  private static func letGo() {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    for index in isOpen.indices where isOpen[index] {
      if null >= 0, dup2(null, Int32(index)) >= 0 {
        _ = fcntl(Int32(index), F_SETFD, FD_CLOEXEC)
      } else {
        _ = close(Int32(index))
      }
    }
    if null >= 0 { _ = close(null) }
  }
}
