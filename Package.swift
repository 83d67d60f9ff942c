// swift-tools-version: 6.2
import PackageDescription

/// Continuous integration turns warnings into errors; a user's build never fails on one.
let strict: [SwiftSetting] = Context.environment["WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// `make sanitize` sets it; see Lock.
let sanitize: [SwiftSetting] = Context.environment["SANITIZE"] == "1" ? [.define("SANITIZE")] : []

/// What only Linux has is compiled where LINUX is defined. PORTABLE=1 leaves it out on Linux too, so that what other
/// systems get instead can be built and tested there.
let isPortable = Context.environment["PORTABLE"] == "1"
let linux: [SwiftSetting] = isPortable ? [] : [.define("LINUX", .when(platforms: [.linux]))]
let linuxInC: [CSetting] = isPortable ? [] : [.define("LINUX", .when(platforms: [.linux]))]

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + strict + sanitize + linux

/// `make release` sets it to the commit, which `pipectl --version` prints.
let commit: [CSetting] = Context.environment["PIPECTL_COMMIT"].map { [.define("COMMIT", to: $0)] } ?? []

/// What a consumer can leave out: `.package(…, traits: ["WebP"])` reads and writes JPEG and WebP. All are on by default.
let traits: Set<Trait> = [
    .trait(name: "PNG", description: "Reads and writes PNG with libdeflate.", enabledTraits: ["Vips"]),
    .trait(name: "WebP", description: "Reads and writes WebP with libwebp."),
    .trait(name: "AVIF", description: "Reads and writes AVIF with libavif.", enabledTraits: ["Vips"]),
    .trait(name: "HEIC", description: "Reads HEIC with libheif."),
    .trait(name: "TIFF", description: "Reads and writes TIFF with libtiff."),
    .trait(name: "GIF", description: "Reads and writes GIF."),
    .trait(name: "BMP", description: "Reads BMP."),
    .trait(name: "JPEGXL", description: "Reads JPEG XL with libjxl."),
    .trait(name: "SVG", description: "Draws SVG with librsvg.", enabledTraits: ["PNG"]),
    .trait(name: "Vips", description: "Converts inks and complex ICC profiles with libvips; PNG and AVIF use it too."),
    .trait(name: "Isolation", description: "Loaders and pipectl decode in confined processes."),
    .trait(name: "Fleet", description: "pipectl shares what it fetches among machines."),
    .trait(name: "YAML", description: "Pipelines and settings are read from YAML files with libyaml."),
]

/// A target that is only built with a trait.
func target(_ name: String, with trait: String) -> Target.Dependency {
    .target(name: name, condition: .when(traits: [trait]))
}

let package = Package(
    name: "pipeline",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "Pipeline", targets: ["Pipeline"]),
        .library(name: "PipelineImages", targets: ["PipelineImages"]),
        .library(name: "PipelineIsolation", targets: ["PipelineIsolation"]),
        .library(name: "PipelineHTTP", targets: ["PipelineHTTP"]),
        .library(name: "Stages", targets: ["Stages"]),
        .library(name: "PipelineShared", targets: ["PipelineShared"]),
        .library(name: "PipelineServer", targets: ["PipelineServer"]),
        .library(name: "PipelineFile", targets: ["PipelineFile"]),
        .library(name: "PipelineTesting", targets: ["PipelineTesting"]),
        .library(name: "PipelineMetrics", targets: ["PipelineMetrics"]),
        .library(name: "PipelineSharedMetrics", targets: ["PipelineSharedMetrics"]),
        .library(name: "PipelineTracing", targets: ["PipelineTracing"]),
        .library(name: "PipelineCommand", targets: ["PipelineCommand"]),
        .executable(name: "pipectl", targets: ["pipectl"]),
        .executable(name: "pipeline-decoder", targets: ["pipeline-decoder"]),
    ],
    traits: traits.union([.default(enabledTraits: Set(traits.map(\.name)))]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: [
        // The platform's C library and the part of Foundation that it has; the only targets that name them.
        .target(name: "LibC", swiftSettings: settings),
        .target(name: "Essentials", swiftSettings: settings),
        .target(
            name: "Pipeline",
            dependencies: [
                "Essentials", "LibC",
                "CThread",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CGObject", pkgConfig: "gobject-2.0", providers: [.apt(["libglib2.0-dev"]), .brew(["glib"])]),
        .systemLibrary(
            name: "CLibJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg62-turbo-dev"]), .brew(["jpeg-turbo"])]),
        // libjpeg ends what fails with a long jump, which only C can take.
        .target(name: "CImages", dependencies: ["CLibJPEG"]),
        // libvips, libavif, libheif, libjxl, libtiff and librsvg are loaded when they are first needed: only their headers are used.
        // Those of libvips and librsvg need GObject's, which is linked. CImages knows how their files are named.
        .target(name: "CVips", dependencies: ["CGObject", "CImages"]),
        .target(name: "CSVG", dependencies: ["CGObject", "CImages"]),
        .target(name: "CAVIF", dependencies: ["CImages"]),
        .target(name: "CHEIF", dependencies: ["CImages"]),
        .target(name: "CJXL", dependencies: ["CImages"]),
        .target(name: "CTIFF", dependencies: ["CImages"]),
        .systemLibrary(
            name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),
        .target(name: "CArguments", cSettings: linuxInC),
        .target(name: "CVersion", cSettings: commit),
        // The version of the programs, and the only target that names CVersion.
        .target(name: "SourceVersion", dependencies: ["CVersion"], swiftSettings: settings),
        .systemLibrary(name: "CAttributes"),
        .target(name: "CThread", cSettings: linuxInC),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"]), .brew(["webp"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .target(
            name: "PipelineImages",
            dependencies: [
                "Essentials", "LibC", "Pipeline", "CImages", target("CVips", with: "Vips"),
                target("CDeflate", with: "PNG"),
                target("CWebP", with: "WebP"), target("CAVIF", with: "AVIF"), target("CHEIF", with: "HEIC"),
                target("CTIFF", with: "TIFF"), target("CJXL", with: "JPEGXL"), target("CSVG", with: "SVG"),
            ],
            swiftSettings: settings
        ),
        .target(name: "CSandbox", cSettings: linuxInC),
        .target(
            name: "PipelineIsolation",
            dependencies: [
                "Essentials", "LibC",
                "CSandbox", "Pipeline", "PipelineImages", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // The program in whose processes PipelineIsolation decodes.
        .executableTarget(name: "pipeline-decoder", dependencies: ["PipelineIsolation"], swiftSettings: settings),
        .target(
            name: "PipelineHTTP",
            dependencies: [
                "Essentials", "LibC",
                "Pipeline", "CCurl", "CSQLite",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Stages",
            dependencies: [
                "Essentials",
                "Pipeline", "PipelineImages", "PipelineHTTP", target("PipelineIsolation", with: "Isolation"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // Without pkg-config: the package manager warns of a flag in Debian's hiredis.pc, and the headers are in a standard
        // folder.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(name: "CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        // Digests for the targets that sign, and the only one that names OpenSSL's.
        .target(name: "Digests", dependencies: ["CCrypto"], swiftSettings: settings),
        .target(
            name: "PipelineShared",
            dependencies: [
                "Digests", "Essentials", "LibC",
                "CHiredis", "CTLS", "Pipeline", "PipelineHTTP", "Stages",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        // What an image server answers, for any web framework.
        .target(
            name: "PipelineServer",
            dependencies: [
                "Digests", "Essentials", "LibC", "Pipeline", "PipelineHTTP", "PipelineImages", "SourceVersion",
                "Stages",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
        .target(
            name: "PipelineFile", dependencies: ["Pipeline", "Stages", target("CYAML", with: "YAML")],
            swiftSettings: settings),
        .target(
            name: "PipelineTesting",
            dependencies: [
                "Essentials", "LibC", "Pipeline", "PipelineHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        // Observers of their own targets, so that a program that wants neither depends on neither.
        .target(
            name: "PipelineMetrics",
            dependencies: ["Pipeline", "Stages", .product(name: "Metrics", package: "swift-metrics")],
            swiftSettings: settings
        ),
        .target(
            name: "PipelineSharedMetrics",
            dependencies: ["PipelineShared", .product(name: "Metrics", package: "swift-metrics")],
            swiftSettings: settings
        ),
        .target(
            name: "PipelineTracing",
            dependencies: ["Pipeline", "Stages", .product(name: "Tracing", package: "swift-distributed-tracing")],
            swiftSettings: settings
        ),
        .target(
            name: "PipelineCommand",
            dependencies: [
                "Essentials", "LibC",
                "CArguments", "CAttributes", target("CAVIF", with: "AVIF"), target("CJXL", with: "JPEGXL"),
                "SourceVersion",
                "PipelineFile", target("PipelineIsolation", with: "Isolation"), target("PipelineShared", with: "Fleet"),
                "Stages",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "pipectl", dependencies: ["PipelineCommand"], swiftSettings: settings),
        // What the tests of several modules use, and no product.
        .target(
            name: "TestFixtures",
            dependencies: [
                "Essentials", "LibC",
                "FleetServers", "Pipeline", "PipelineHTTP", "PipelineImages", "PipelineTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestFixtures",
            swiftSettings: settings),
        .testTarget(
            name: "PipelineTests",
            dependencies: ["Essentials", "CacheTrials", "Pipeline", "PipelineTesting", "TestFixtures"],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineImagesTests",
            dependencies: [
                "LibC", "CAVIF", "CImages", "CTIFF", "CVips", "CWebP", "Pipeline", "PipelineImages", "PipelineTesting",
                "TestFixtures",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineHTTPTests",
            dependencies: [
                "Essentials", "LibC",
                "CCurl", "CSQLite", "CacheTrials", "FleetServers", "Pipeline", "PipelineHTTP", "PipelineTesting",
                "TestFixtures",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineServerTests",
            dependencies: [
                "Pipeline", "PipelineImages", "PipelineServer", "PipelineShared", "PipelineTesting", "Stages",
                "TestFixtures",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PipelineTestingTests",
            dependencies: [
                "Essentials", "LibC",
                "Pipeline", "PipelineHTTP", "PipelineTesting", "TestFixtures",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        // A compromised decoder, in a helper of its own; no products.
        .target(name: "CEscapes", path: "Tests/CEscapes"),
        .executableTarget(
            name: "EscapingDecoder",
            dependencies: ["Essentials", "LibC", "CEscapes", "PipelineIsolation", "PipelineTesting"],
            path: "Tests/EscapingDecoder", swiftSettings: settings),
        .testTarget(
            name: "IsolationTests",
            dependencies: [
                "LibC",
                "CEscapes", "CSandbox", "EscapingDecoder", "PipelineIsolation", "PipelineTesting", "Stages",
                "TestFixtures",
                "pipeline-decoder",
            ],
            swiftSettings: settings),
        // A program that shows previews; no product.
        .executableTarget(
            name: "PreviewTrial", dependencies: ["PipelineTesting", "Stages"], path: "Tests/PreviewTrial",
            swiftSettings: settings),
        // What tests of the cache need processes of their own for; no product.
        .executableTarget(
            name: "CacheTrials",
            dependencies: [
                "Essentials", "LibC",
                "CHiredis", "CSQLite", "FleetServers", "PipelineShared", "PipelineTesting", "Stages",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/CacheTrials",
            swiftSettings: settings
        ),
        .testTarget(
            name: "StagesTests",
            dependencies: [
                "Essentials", "LibC",
                "CSQLite", "CacheTrials", "FleetServers", "PipelineHTTP", "PipelineImages", "PipelineTesting", "Stages",
                "TestFixtures",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // Redis and S3-compatible servers that tests start; no product.
        .target(
            name: "FleetServers",
            dependencies: [
                "LibC",
                "Pipeline", "PipelineHTTP", "PipelineShared",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/FleetServers",
            swiftSettings: settings),
        .testTarget(
            name: "PipelineSharedTests",
            dependencies: [
                "CacheTrials", "FleetServers", "PipelineHTTP", "PipelineShared", "PipelineTesting", "Stages",
                "TestFixtures",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["S3/signatures.json"],
            swiftSettings: settings),
        .testTarget(
            name: "ObserverTests",
            dependencies: [
                "Essentials",
                "Pipeline", "PipelineMetrics", "PipelineShared", "PipelineSharedMetrics", "PipelineTesting",
                "PipelineTracing", "Stages", "TestFixtures",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "pipectlTests",
            dependencies: [
                "CAttributes", "FleetServers", "Pipeline", "PipelineCommand", "PipelineFile", "PipelineHTTP",
                "PipelineImages", "PipelineShared", "PipelineTesting", "PreviewTrial", "SourceVersion", "Stages",
                "TestFixtures", "pipectl",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
    ]
)
