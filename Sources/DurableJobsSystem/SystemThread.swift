import Foundation

/// A system thread that may block. Unlike Foundation's, it reports when the system can't create one.
package enum SystemThread {
  /// Runs `body` on a new thread that ends with it. Returns 0, or an error code if no thread could be created.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let order = Unmanaged.passRetained(Order(body))
    #if canImport(Glibc)
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

    /// Runs the closure that was passed to the thread, and takes ownership of it.
    static func carryOut(_ order: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
      Unmanaged<Order>.fromOpaque(order).takeRetainedValue().body()
      return nil
    }
  }
}
