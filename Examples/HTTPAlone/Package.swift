// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "HTTPAlone",
    dependencies: [.package(name: "pipeline", path: "../..")],
    targets: [.executableTarget(name: "HTTPAlone", dependencies: [.product(name: "PipelineHTTP", package: "pipeline")])]
)
