import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSystem

@Suite struct SystemValueTests {
  private typealias Supply = PowerSupplies.Supply

  @Test("A machine runs on its battery if it has one that discharges and nothing else that is on")
  func power() {
    let battery = Supply(type: "Battery", isDischarging: true)
    let full = Supply(type: "Battery")
    let mains = Supply(type: "Mains", isOnline: true)
    let mouse = Supply(type: "Battery", isDischarging: true, isOfDevice: true)
    for (supplies, isExternal) in [
      ([], true), ([mains], true), ([battery], false), ([full], true), ([battery, mains], true),
      ([battery, Supply(type: "Mains")], false), ([full, Supply(type: "Mains")], true), ([mouse], true),
      ([mouse, battery], false), ([Supply(type: "UPS", isDischarging: true)], false),
      ([battery, Supply(type: "USB", isOnline: true)], true),
    ] {
      #expect(PowerSupplies(supplies).areExternal == isExternal, "\(supplies)")
    }
  }

  @Test("Supplies are read as Linux shows them")
  func supplies() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ supply: String, _ facts: [String: String]) throws {
      let place = folder.appendingPathComponent(supply)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      for (name, text) in facts { try Data((text + "\n").utf8).write(to: place.appendingPathComponent(name)) }
    }
    try write("AC", ["type": "Mains", "online": "0"])
    try write("BAT0", ["type": "Battery", "status": "Discharging", "scope": "System"])
    try write("hidpp_battery_0", ["type": "Battery", "status": "Discharging", "scope": "Device", "online": "1"])
    #expect(
      PowerSupplies(folder: folder.path).supplies == [
        Supply(type: "Mains"), Supply(type: "Battery", isDischarging: true),
        Supply(type: "Battery", isOnline: true, isDischarging: true, isOfDevice: true),
      ])
    #expect(PowerSupplies(folder: folder.path + "/none").areExternal)
  }

  @Test("There is enough room from the least on, and a tenth more once there was less")
  func room() {
    let isEnough = { DiskSpaceMonitor.isEnough($0, least: 1000, was: $1) }
    #expect([1000, 999, nil].map { isEnough($0, true) } == [true, false, true])
    #expect([1100, 1099, nil].map { isEnough($0, false) } == [true, false, true])
  }

  @Test(
    "What a volume has is enough or not, at once", arguments: [(0, true), (Int64.max / 2, false)] as [(Int64, Bool)])
  func volume(least: Int64, isEnough: Bool) async {
    var first: Bool?
    for await value in DiskSpaceMonitor(atLeast: least, of: URL(fileURLWithPath: "/")).changes() {
      first = value
      break
    }
    #expect(first == isEnough)
  }

  #if os(Linux)
    private static let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    private static let zero = String(repeating: "0", count: 32)

    @Test("A default route is one to everywhere that is up, rejects nothing and leads out of the machine")
    func routes() {
      func interfaces(_ ipv4: String, _ ipv6: String = "") -> Set<String> {
        DefaultRoutes(ipv4: Self.head + ipv4, ipv6: ipv6).interfaces
      }
      #expect(interfaces("") == [])
      #expect(interfaces("eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n") == ["eth0"])
      #expect(interfaces("eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n") == [])
      // Half of all addresses is not all.
      #expect(interfaces("tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n") == [])
      #expect(interfaces("eth0\t00000000\t010200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n") == [])
      let (zero, hop) = (Self.zero, "fd000000000000000000000000000001")
      #expect(
        interfaces("", "\(zero) 00 \(zero) 00 \(hop) 00000400 00000002 00000000 00000003     wlan0\n") == ["wlan0"])
      #expect(interfaces("", "\(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo\n") == [])
      #expect(interfaces("", "\(hop) 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001     eth0\n") == [])
    }
  #endif

  @Test("The system tells of network and power at once, as they are")
  func system() async {
    var told: [Bool] = []
    for await value in NetworkMonitor().changes() {
      told.append(value)
      break
    }
    for await value in PowerMonitor().changes() {
      told.append(value)
      break
    }
    #expect(told.count == 2)
    #if os(Linux)
      #expect(told.last == PowerSupplies(folder: "/sys/class/power_supply").areExternal)
      let tables = ["route", "ipv6_route"].map { try? String(contentsOfFile: "/proc/net/\($0)", encoding: .utf8) }
      // With one, it is the link that decides.
      let routes = DefaultRoutes(ipv4: tables[0] ?? "", ipv6: tables[1] ?? "")
      #expect(told.first == false || !routes.interfaces.isEmpty)
    #endif
  }
}
