// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + strict

let package = Package(
    name: "examples",
    dependencies: [
        .package(name: "pipeline", path: ".."),
        .package(path: "../Packages/PipelineServiceLifecycle"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "Demo",
            dependencies: [
                .product(name: "Stages", package: "pipeline"), .product(name: "PipelineTesting", package: "pipeline"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Confined", dependencies: [.product(name: "Stages", package: "pipeline")], swiftSettings: settings),
        .target(
            name: "GettingStarted",
            dependencies: [.product(name: "Stages", package: "pipeline")],
            swiftSettings: settings
        ),
        .target(
            name: "InAFleet",
            dependencies: [
                .product(name: "PipelineShared", package: "pipeline"),
                .product(name: "PipelineSharedMetrics", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "StageOfYourOwn",
            dependencies: [
                .product(name: "PipelineFile", package: "pipeline"), .product(name: "Stages", package: "pipeline"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "OwnFetcher",
            dependencies: [.product(name: "Stages", package: "pipeline")],
            swiftSettings: settings
        ),
        .target(
            name: "SecondLevel",
            dependencies: [.product(name: "Stages", package: "pipeline")],
            swiftSettings: settings
        ),
        .target(
            name: "OwnStore",
            dependencies: [.product(name: "Stages", package: "pipeline")],
            swiftSettings: settings
        ),
        .target(
            name: "QOI", dependencies: [.product(name: "Stages", package: "pipeline")], swiftSettings: settings),
        .executableTarget(
            name: "QOIWorker", dependencies: ["QOI", .product(name: "PipelineIsolation", package: "pipeline")],
            swiftSettings: settings),
        .executableTarget(
            name: "QOICommand",
            dependencies: [
                "QOI", .product(name: "PipelineCommand", package: "pipeline"),
                .product(name: "PipelineFile", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ToolkitLoop",
            dependencies: [.product(name: "Stages", package: "pipeline")],
            swiftSettings: settings
        ),
        .target(
            name: "ThumbnailService",
            dependencies: [
                .product(name: "Stages", package: "pipeline"), .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FiveLoaders",
            dependencies: [
                .product(name: "Stages", package: "pipeline"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // Runs a program with the system calls of a container.
        .executableTarget(name: "ContainerProfile", path: "Tests/ContainerProfile"),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "Confined", "ContainerProfile", "FiveLoaders", "GettingStarted", "InAFleet", "OwnFetcher", "QOI",
                "QOICommand", "OwnStore", "QOIWorker",
                "SecondLevel", "StageOfYourOwn", "ThumbnailService", "ToolkitLoop",
                .product(name: "PipelineFile", package: "pipeline"),
                .product(name: "PipelineIsolation", package: "pipeline"),
                .product(name: "pipeline-decoder", package: "pipeline"),
                .product(name: "PipelineMetrics", package: "pipeline"),
                .product(name: "PipelineTracing", package: "pipeline"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "PipelineServiceLifecycle", package: "PipelineServiceLifecycle"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "PipelineTesting", package: "pipeline"),
            ],
            swiftSettings: settings
        ),
    ]
)
