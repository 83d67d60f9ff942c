// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "thumbnails",
    dependencies: [
        .package(name: "pipeline", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "Thumbnails",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Stages", package: "pipeline"),
            ]
        ),
        .testTarget(
            name: "ThumbnailsTests",
            dependencies: ["Thumbnails", .product(name: "PipelineTesting", package: "pipeline")]
        ),
    ]
)
