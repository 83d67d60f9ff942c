// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "pipeline", path: "..")],
    targets: [
        .target(name: "CAllocations"),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CAllocations",
                .product(name: "Pipeline", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("ExistentialAny"),
            ]
        ),
    ]
)
