// swift-tools-version: 6.2
import PackageDescription

// A package of its own: who uses the library never sees it. `scripts/run-table` builds and runs all of it.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "DurableJobs", path: "..", traits: ["Postgres"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "bench",
      dependencies: [
        .product(name: "DurableJobs", package: "DurableJobs"),
        .product(name: "DurableJobsSQLite", package: "DurableJobs"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "bench-postgres",
      dependencies: [
        .product(name: "DurableJobs", package: "DurableJobs"),
        .product(name: "DurableJobsPostgres", package: "DurableJobs"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
