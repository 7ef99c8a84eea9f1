// What the branches for macOS call of IOKit, as ps/IOPowerSources.h of the macOS 15 SDK has it, by way of Swift's importer. The
// types of Core Foundation are those that they are bridged to. For scripts/check-apple alone.
import Foundation

public let kIOPMBatteryPowerKey = "Battery Power"
public func IOPSCopyPowerSourcesInfo() -> Unmanaged<AnyObject>! { fatalError() }
public func IOPSGetProvidingPowerSourceType(_: AnyObject!) -> Unmanaged<NSString>! { fatalError() }
