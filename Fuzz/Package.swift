// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "fuzz",
    dependencies: [
        .package(name: "pipeline", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // libFuzzer provides the program's entry point: swift build --sanitize=fuzzer.
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                .product(name: "Pipeline", package: "pipeline"),
                .product(name: "PipelineFile", package: "pipeline"),
                .product(name: "PipelineHTTP", package: "pipeline"),
                .product(name: "PipelineImages", package: "pipeline"),
                .product(name: "PipelineIsolation", package: "pipeline"),
                .product(name: "PipelineServer", package: "pipeline"),
                .product(name: "PipelineShared", package: "pipeline"),
                .product(name: "Stages", package: "pipeline"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("ExistentialAny"), .unsafeFlags(["-parse-as-library"]),
            ]
        )
    ]
)
