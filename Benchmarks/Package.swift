// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "pipeline", path: "..")],
    targets: [
        .target(name: "CAllocations"),
        .systemLibrary(name: "CSQLiteAlone", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "ProcessMemory"),
        // A separate program, since CAllocations can't be linked with AddressSanitizer.
        .executableTarget(
            name: "hostile",
            dependencies: [
                "ProcessMemory",
                .product(name: "Pipeline", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("ExistentialAny"),
            ]
        ),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CAllocations", "CSQLiteAlone", "ProcessMemory",
                .product(name: "Pipeline", package: "pipeline"),
                .product(name: "PipelineIsolation", package: "pipeline"),
                .product(name: "PipelineTesting", package: "pipeline"),
                .product(name: "pipeline-decoder", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("ExistentialAny"),
            ]
        ),
    ]
)
