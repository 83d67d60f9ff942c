// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ImagesAlone",
    dependencies: [.package(name: "pipeline", path: "../..")],
    targets: [
        .executableTarget(name: "ImagesAlone", dependencies: [.product(name: "PipelineImages", package: "pipeline")])
    ]
)
