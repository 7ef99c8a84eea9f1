// swift-tools-version: 6.2
import PackageDescription

// On Linux libpq is loaded when it is first needed: `Sources/CPostgres/CPostgres.c` says why.
#if os(Linux)
  let postgres = Target.target(
    name: "CPostgres", exclude: ["module.modulemap"], cSettings: [.define("Postgres", .when(traits: ["Postgres"]))],
    linkerSettings: [.linkedLibrary("dl")])
#else
  let postgres = Target.systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.brew(["libpq"])])
#endif

// Who wants the queue and SQLite resolves GRDB and swift-log, and nothing else. What needs more stands behind
// a trait that is off by default; `scripts/check-client` counts the checkouts.
let package = Package(
  name: "DurableJobs",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "DurableJobs", targets: ["DurableJobs"]),
    .library(name: "DurableJobsSQLite", targets: ["DurableJobsSQLite"]),
    .library(name: "DurableJobsPostgres", targets: ["DurableJobsPostgres"]),
    .library(name: "DurableJobsSystem", targets: ["DurableJobsSystem"]),
    .library(name: "DurableJobsHTTP", targets: ["DurableJobsHTTP"]),
    .library(name: "DurableJobsSchedules", targets: ["DurableJobsSchedules"]),
    .library(name: "DurableJobsOperations", targets: ["DurableJobsOperations"]),
    .library(name: "DurableJobsProcess", targets: ["DurableJobsProcess"]),
    .library(name: "DurableJobsService", targets: ["DurableJobsService"]),
    .library(name: "DurableJobsEncryption", targets: ["DurableJobsEncryption"]),
    .library(name: "DurableJobsApp", targets: ["DurableJobsApp"]),
    .library(name: "DurableJobsTesting", targets: ["DurableJobsTesting"]),
    .executable(name: "durable", targets: ["durable"]),
    .executable(name: "durable-demo", targets: ["durable-demo"]),
  ],
  traits: [
    .trait(name: "HTTP", description: "Downloads and requests as jobs: AsyncHTTPClient."),
    .trait(name: "Process", description: "Commands as jobs: swift-subprocess."),
    .trait(
      name: "Shell", description: "The command `durable`: ArgumentParser, commands, downloads and requests.",
      enabledTraits: ["HTTP", "Process"]),
    .trait(name: "Postgres", description: "A store on a PostgreSQL server: libpq."),
    .trait(
      name: "Service",
      description: "For servers: a worker as a service, metrics and traces by the packages of swift-server."),
    .trait(name: "Encryption", description: "Payloads that are stored encrypted: swift-crypto."),
    .trait(
      name: "Examples", description: "The example server of docs/servers.md: Hummingbird.", enabledTraits: ["Service"]),
    .trait(
      name: "FaultPoints",
      description: "Named places where a test may have the process killed. Never in what is shipped."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.0"..<"5.0.0"),
  ],
  targets: [
    .target(
      name: "DurableJobs",
      dependencies: [.product(name: "Logging", package: "swift-log")]),
    .target(
      name: "DurableJobsSQLite",
      dependencies: [
        "DurableJobs",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(
      name: "DurableJobsPostgres",
      dependencies: [
        "DurableJobs", "DurableJobsProcess", "DurableJobsSystem",
        .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
      ]),
    postgres,
    .target(name: "DurableJobsSystem", dependencies: ["DurableJobs"]),
    .target(name: "DurableJobsSchedules", dependencies: ["DurableJobs"]),
    .testTarget(
      name: "DurableJobsSchedulesTests",
      dependencies: [
        "DurableJobsSchedules", "DurableJobsSQLite", "DurableJobsTesting", "ScheduleProbe", "TestProcesses",
      ]),
    .executableTarget(
      name: "ScheduleProbe",
      dependencies: [
        "DurableJobsSchedules", "DurableJobsSQLite", "DurableJobsPostgres",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/ScheduleProbe"),
    .target(name: "DurableJobsApp", dependencies: ["DurableJobs", "DurableJobsSQLite", "DurableJobsSystem"]),
    .testTarget(
      name: "DurableJobsAppTests", dependencies: ["DurableJobsApp", "DurableJobsSQLite", "DurableJobsTesting"]),
    .target(
      name: "DurableJobsHTTP",
      dependencies: [
        "DurableJobs", "DurableJobsSystem",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["HTTP"])),
        .target(name: "CDurableSHA256", condition: .when(platforms: [.linux], traits: ["HTTP"])),
      ]),
    .target(name: "CDurableSHA256"),
    .target(
      name: "DurableJobsOperations",
      dependencies: ["DurableJobs", .product(name: "Logging", package: "swift-log")]),
    .target(
      name: "DurableJobsService",
      dependencies: [
        "DurableJobs",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Service"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Service"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Service"])),
      ]),
    .target(
      name: "DurableJobsEncryption",
      dependencies: [
        "DurableJobs", .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
      ]),
    .executableTarget(
      name: "mail-server",
      dependencies: [
        "DurableJobs", "DurableJobsSQLite", "DurableJobsService", .product(name: "Logging", package: "swift-log"),
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Examples"])),
      ],
      path: "Examples/Server"),
    .testTarget(
      name: "DurableJobsServiceTests",
      dependencies: [
        "DurableJobsService", "DurableJobsEncryption", "DurableJobsSQLite", "DurableJobsTesting", "TestProcesses",
        "mail-server",
        .product(name: "Logging", package: "swift-log"),
        .product(
          name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle", condition: .when(traits: ["Service"])),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Service"])),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: .when(traits: ["Service"])),
      ]),
    .target(name: "DurableJobsTesting", dependencies: ["DurableJobs"]),
    .target(
      name: "DurableJobsProcess",
      dependencies: [
        "DurableJobs", "DurableJobsSystem",
        .product(name: "Subprocess", package: "swift-subprocess", condition: .when(traits: ["Process"])),
      ]),
    .target(
      name: "Console",
      dependencies: [
        "DurableJobs", "DurableJobsProcess", "DurableJobsSystem",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Shell"])),
      ]),
    .executableTarget(
      name: "durable",
      dependencies: [
        "Console", "DurableJobs", "DurableJobsSQLite", "DurableJobsPostgres", "DurableJobsHTTP", "DurableJobsProcess",
        "DurableJobsSchedules", "DurableJobsSystem",
        .product(name: "Logging", package: "swift-log"), .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Subprocess", package: "swift-subprocess", condition: .when(traits: ["Shell"])),
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Shell"])),
      ]),
    .executableTarget(
      name: "durable-demo",
      dependencies: [
        "Console", "DurableJobs", "DurableJobsSQLite", "DurableJobsHTTP", "DurableJobsProcess",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Shell"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Shell"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Shell"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Shell"])),
        .product(name: "Subprocess", package: "swift-subprocess", condition: .when(traits: ["Shell"])),
      ]),
    .testTarget(
      name: "DurableJobsTests",
      dependencies: [
        "DurableJobs", "DurableJobsTesting", "TestProcesses", .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "DurableJobsSQLiteTests",
      dependencies: [
        "DurableJobsSQLite", "DurableJobsTesting", "ProcessProbe", "TestProcesses",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "DurableJobsPostgresTests",
      dependencies: [
        "CrashProbe", "DurableJobsPostgres", "DurableJobsSchedules", "DurableJobsTesting", "PostgresTestServer",
        "ScheduleProbe", "TestProcesses",
        .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
      ]),
    .target(
      name: "PostgresTestServer",
      dependencies: [
        "DurableJobs", "DurableJobsPostgres", "TestProcesses",
        .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
      ],
      path: "Tests/PostgresTestServer"),
    .testTarget(name: "SystemTests", dependencies: ["DurableJobsSystem", "DurableJobsTesting"]),
    .executableTarget(
      name: "ProcessProbe",
      dependencies: [
        "DurableJobsSQLite", "DurableJobsTesting", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/ProcessProbe"),
    .executableTarget(
      name: "CrashProbe",
      dependencies: ["DurableJobsSQLite", "DurableJobsPostgres", .product(name: "Logging", package: "swift-log")],
      path: "Tests/CrashProbe"),
    .target(name: "TestProcesses", dependencies: ["DurableJobs"], path: "Tests/TestProcesses"),
    .testTarget(
      name: "CrashTests", dependencies: ["DurableJobsSQLite", "DurableJobsTesting", "CrashProbe", "TestProcesses"]),
    .target(
      name: "LyingServer",
      dependencies: [
        "DurableJobs",
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["HTTP"])),
      ],
      path: "Tests/LyingServer"),
    .executableTarget(
      name: "DownloadProbe", dependencies: ["DurableJobsHTTP", "DurableJobsSQLite"], path: "Tests/DownloadProbe"),
    .testTarget(
      name: "DownloadTests",
      dependencies: [
        "DurableJobsHTTP", "DurableJobsSQLite", "DurableJobsSystem", "DurableJobsTesting", "LyingServer",
        "DownloadProbe", "TestProcesses",
      ],
      exclude: ["Fixtures"]),
    .executableTarget(
      name: "CommandProbe", dependencies: ["DurableJobsProcess", "DurableJobsSQLite", "DurableJobsTesting"],
      path: "Tests/CommandProbe"),
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "DurableJobsProcess", "DurableJobsSQLite", "DurableJobsTesting", "CommandProbe", "TestProcesses",
      ]),
    .executableTarget(
      name: "OperationProbe", dependencies: ["DurableJobsOperations", "DurableJobsSQLite", "DurableJobsPostgres"],
      path: "Tests/OperationProbe"),
    .testTarget(
      name: "DurableJobsOperationsTests",
      dependencies: [
        "DurableJobsOperations", "DurableJobsSQLite", "DurableJobsPostgres", "DurableJobsTesting", "OperationProbe",
        "PostgresTestServer", "TestProcesses",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "SnippetTests",
      dependencies: [
        "DurableJobs", "DurableJobsSQLite", "DurableJobsOperations", "DurableJobsSystem", "DurableJobsHTTP",
        "DurableJobsApp", "DurableJobsPostgres", "DurableJobsProcess", "DurableJobsSchedules", "DurableJobsTesting",
        "DurableJobsService", "DurableJobsEncryption", "TestProcesses",
        .product(name: "Logging", package: "swift-log"), .product(name: "GRDB", package: "GRDB.swift"),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Service"])),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
      ]),
    .testTarget(
      name: "DurableCommandTests",
      dependencies: [
        "Console", "DurableJobsHTTP", "DurableJobsProcess", "DurableJobsSchedules", "DurableJobsSQLite",
        "DurableJobsTesting", "LyingServer", "PostgresTestServer", "TestProcesses", "durable", "durable-demo",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Subprocess", package: "swift-subprocess", condition: .when(traits: ["Shell"])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
