/// Whether programs are built with places where `DURABLE_FAULT` kills them.
package var hasFaultPoints: Bool {
  #if FaultPoints
    true
  #else
    false
  #endif
}
