// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + strict

let package = Package(
    name: "image-server",
    dependencies: [
        .package(name: "pipeline", path: "../.."),
        .package(path: "../../Packages/PipelineHummingbird"),
        .package(path: "../../Packages/PipelineServiceLifecycle"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "ImageServer",
            dependencies: [
                .product(name: "Stages", package: "pipeline"),
                .product(name: "PipelineIsolation", package: "pipeline"),
                .product(name: "PipelineMetrics", package: "pipeline"),
                .product(name: "PipelineHummingbird", package: "PipelineHummingbird"),
                .product(name: "PipelineServer", package: "pipeline"),
                .product(name: "PipelineServiceLifecycle", package: "PipelineServiceLifecycle"),
                .product(name: "PipelineShared", package: "pipeline"),
                .product(name: "PipelineSharedMetrics", package: "pipeline"),
                // Decodes; it is found next to the server.
                .product(name: "pipeline-decoder", package: "pipeline"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [
                "cell.html", "favicon.svg", "gallery.css", "gallery.html", "gallery.js", "traces.html", "traces.js",
                "viewer.html", "viewer.js",
            ].map {
                .embedInCode("Gallery/Web/" + $0)
            },
            swiftSettings: settings
        ),
        // For Scripts/load alone.
        .executableTarget(
            name: "BareRoute",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Peers/BareRoute", swiftSettings: settings
        ),
        .testTarget(
            name: "ImageServerTests",
            dependencies: [
                "ImageServer", .product(name: "PipelineServer", package: "pipeline"),
                .product(name: "PipelineTesting", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
    ]
)
