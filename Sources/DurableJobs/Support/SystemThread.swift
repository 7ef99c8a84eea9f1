import Foundation

/// A thread of the system's own, that may block. Other than Foundation's, it tells where the system has none to give.
package enum SystemThread {
  /// Runs `body` on a new thread, that ends with it. Returns 0, or the system's code for why there is none: then nothing runs.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let order = Unmanaged.passRetained(Order(body))
    #if os(Linux)
      var thread = pthread_t()
      let code = pthread_create(&thread, nil, { $0.flatMap { Order.carryOut($0) } }, order.toOpaque())
      if code == 0 { pthread_detach(thread) }
    #else
      var thread: pthread_t?
      let code = pthread_create(&thread, nil, { Order.carryOut($0) }, order.toOpaque())
      if code == 0, let thread { pthread_detach(thread) }
    #endif
    if code != 0 { order.release() }
    return code
  }

  private final class Order: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// The thread's own: it is taken over here.
    static func carryOut(_ order: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
      Unmanaged<Order>.fromOpaque(order).takeRetainedValue().body()
      return nil
    }
  }
}
