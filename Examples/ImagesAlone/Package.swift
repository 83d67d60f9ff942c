// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ImagesAlone",
    // No codec but JPEG: of all libraries only libjpeg-turbo is needed.
    dependencies: [.package(name: "pipeline", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "ImagesAlone", dependencies: [.product(name: "PipelineImages", package: "pipeline")])
    ]
)
