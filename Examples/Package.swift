// swift-tools-version: 6.2
import PackageDescription

// Small programs to read and to copy: the package of a client. `scripts/run-examples` kills each in the middle, and starts it
// again.
let queue: [Target.Dependency] = [
  .product(name: "DurableJobs", package: "DurableJobs"),
  .product(name: "DurableJobsSQLite", package: "DurableJobs"),
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "DurableJobs", path: "..")],
  targets: [
    .executableTarget(name: "task-queue", dependencies: queue),
    .executableTarget(name: "offline-requests", dependencies: queue),
    .executableTarget(name: "login-and-avatar", dependencies: queue),
    .executableTarget(
      name: "photo-app",
      dependencies: queue + [.product(name: "DurableJobsApp", package: "DurableJobs")],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    .executableTarget(
      name: "operation-queue",
      dependencies: queue + [.product(name: "DurableJobsOperations", package: "DurableJobs")]),
  ],
  swiftLanguageModes: [.v6]
)
