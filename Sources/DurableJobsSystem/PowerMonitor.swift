import DurableJobs
import Foundation

#if os(iOS)
  import UIKit
#elseif canImport(IOKit)
  import IOKit.ps
#endif

/// Monitors whether the machine is not on battery, for `JobConstraint.externalPower`. Always true without a battery.
public struct PowerMonitor: ConstraintMonitor {
  public init() {}

  #if os(Linux)
    public func changes() -> some AsyncSequence<Bool, Never> {
      // The family of kernel messages about devices.
      KernelNews.changes(family: 15, groups: 1) { PowerSupplies(folder: "/sys/class/power_supply").areExternal }
    }
  #else
    private static let interval = Duration.seconds(60)

    public func changes() -> some AsyncSequence<Bool, Never> {
      Polling(Self.interval) { await Self.isExternal() }
    }

    private static func isExternal() async -> Bool {
      #if os(iOS)
        await MainActor.run {
          UIDevice.current.isBatteryMonitoringEnabled = true
          return UIDevice.current.batteryState != .unplugged
        }
      #elseif canImport(IOKit)
        let source = IOPSGetProvidingPowerSourceType(IOPSCopyPowerSourcesInfo()?.takeRetainedValue())
        return source?.takeUnretainedValue() as String? != kIOPMBatteryPowerKey
      #else
        true
      #endif
    }
  #endif
}

/// The power sources of a machine, as Linux shows them: a folder of supplies with a file for each property.
struct PowerSupplies: Equatable {
  struct Supply: Equatable {
    var type: String
    var isOnline = false
    /// Whether it is a battery that is discharging.
    var isDischarging = false
    /// Whether it belongs to a peripheral, such as a mouse.
    var isOfDevice = false
  }

  var supplies: [Supply]

  init(_ supplies: [Supply]) { self.supplies = supplies }

  init(folder: String) {
    func fact(_ supply: String, _ name: String) -> String {
      let text = try? String(contentsOfFile: "\(folder)/\(supply)/\(name)", encoding: .utf8)
      return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }
    supplies = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted().map {
      Supply(
        type: fact($0, "type"), isOnline: ["1", "2"].contains(fact($0, "online")),
        isDischarging: fact($0, "status") == "Discharging", isOfDevice: fact($0, "scope") == "Device")
    }
  }

  var areExternal: Bool {
    let own = supplies.filter { !$0.isOfDevice }
    let batteries = own.filter { $0.type == "Battery" || $0.type == "UPS" }
    let others = own.filter { $0.type != "Battery" && $0.type != "UPS" }
    return batteries.isEmpty || others.contains(where: \.isOnline) || !batteries.contains(where: \.isDischarging)
  }
}
