// What the branches for iOS call of UIKit, as UIDevice.h of the iOS 18 SDK has it, by way of Swift's importer. For
// scripts/check-apple alone.
import Foundation

@MainActor open class UIDevice: NSObject {
  public enum BatteryState: Int, Sendable { case unknown = 0, unplugged, charging, full }

  open class var current: UIDevice { fatalError() }
  open var isBatteryMonitoringEnabled: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var batteryState: BatteryState { fatalError() }
}
