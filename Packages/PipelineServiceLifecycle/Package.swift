// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    ] + strict

let package = Package(
    name: "pipeline-service-lifecycle",
    products: [
        .library(name: "PipelineServiceLifecycle", targets: ["PipelineServiceLifecycle"]),
        .library(name: "PipelineSharedServiceLifecycle", targets: ["PipelineSharedServiceLifecycle"]),
    ],
    dependencies: [
        .package(name: "pipeline", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "PipelineServiceLifecycle",
            dependencies: [
                .product(name: "PipelineIsolation", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        // A target of its own, so that a program without a fleet needs no hiredis.
        .target(
            name: "PipelineSharedServiceLifecycle",
            dependencies: ["PipelineServiceLifecycle", .product(name: "PipelineShared", package: "pipeline")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PipelineServiceLifecycleTests",
            dependencies: [
                "PipelineServiceLifecycle", "PipelineSharedServiceLifecycle",
                .product(name: "PipelineIsolation", package: "pipeline"),
                .product(name: "PipelineShared", package: "pipeline"),
                .product(name: "PipelineTesting", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
                // Decodes; it is found next to the tests.
                .product(name: "pipeline-decoder", package: "pipeline"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
    ]
)
