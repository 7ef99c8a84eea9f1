import Foundation

/// A file descriptor that is closed with its one owner, and that no child process has: neither one that executes a program,
/// nor one that is forked and goes on.
final class Descriptor: Sendable {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
    Forks.between { Forks.note(number, isOpen: true) }
  }

  private init(noted number: Int32) { self.number = number }

  /// What `open` opens, with no fork in between; nil if it returns less than 0, with the reason in `errno`.
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

/// What becomes of descriptors in a child that goes on after `fork`. It would share their locks and connections, and its
/// parent would look alive for as long as the child lives. So each is made one of `/dev/null` there: its owner can close it.
private enum Forks {
  // Safe without the compiler's proof: touched with `lock` held, which a fork holds too, and by the only thread of a child.
  /// By the descriptor's number.
  nonisolated(unsafe) private static var isOpen = UnsafeMutableBufferPointer<Bool>.allocate(capacity: 0)
  private static let lock = NSLock()
  private static let isInstalled: Void = {
    pthread_atfork({ Forks.lock.lock() }, { Forks.lock.unlock() }) {
      Forks.letGo()
      Forks.lock.unlock()
    }
  }()

  /// Runs `body` while nobody forks.
  static func between<R>(_ body: () -> R) -> R {
    isInstalled
    return lock.withLock(body)
  }

  /// Inside ``between(_:)``.
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

  /// Does only what a child may that has one thread of many: calls of the system.
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
