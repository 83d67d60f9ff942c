// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    ] + strict

let package = Package(
    name: "pipeline-async-http-client",
    products: [.library(name: "PipelineAsyncHTTPClient", targets: ["PipelineAsyncHTTPClient"])],
    dependencies: [
        .package(name: "pipeline", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(
            name: "PipelineAsyncHTTPClient",
            dependencies: [
                .product(name: "PipelineHTTP", package: "pipeline"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PipelineAsyncHTTPClientTests",
            dependencies: [
                "PipelineAsyncHTTPClient",
                .product(name: "PipelineTesting", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
    ]
)
