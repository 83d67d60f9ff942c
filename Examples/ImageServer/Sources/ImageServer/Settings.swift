import ArgumentParser
import Foundation
import PipelineIsolation
import PipelineServer
import PipelineShared
import PipelineSharedMetrics
import Stages

/// The server's settings, as options of its command.
struct Settings: ParsableArguments {
    @Option(help: "The address to listen at.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at; 0 for any free one.")
    var port = 8080

    @Option(help: "This server's address for clients, such as https://images.example.com. Loopback hosts need none.")
    var publicURL: String?

    @Option(
        name: .customLong("allow-host"),
        help: "A further host under which clients ask this server. May be repeated. Requests for others get 421.")
    var hostNames: [String] = []

    @Option(help: "The folder of files to serve. Without it, no file is read.")
    var folder: String?

    @Flag(help: "Serve files outside of the folder to which symbolic links in it lead.")
    var followLinks = false

    @Option(
        name: .customLong("allow"),
        help: "A URL prefix to load from: https://example.com/photos/, or s3://bucket/. May be repeated.")
    var origins: [String] = []

    @Option(
        name: .customLong("allow-address"),
        help: "A private address, network or host to allow anyway. May be repeated.")
    var addresses: [String] = []

    @Option(help: "A file of keys that paths are signed with: a line for each, SECRET or SECRET:SALT in hexadecimal.")
    var keysFile: String?

    @Option(
        name: .customLong("tenant"),
        help: "A customer with keys of its own: NAME=FILE, a file as for --keys-file. May be repeated.")
    var tenantKeys: [String] = []

    @Option(help: "A URL prefix that a tenant may load from, in place of --allow: NAME=URL. May be repeated.")
    var tenantAllow: [String] = []

    @Option(help: "How many requests a second a tenant's clients may send: NAME=REQUESTS,BURST. May be repeated.")
    var tenantRate: [String] = []

    @Option(help: "A tenant's results in progress and waiting: NAME=NUMBER. By default half of --queue.")
    var tenantQueue: [String] = []

    @Option(help: "How long a tenant's sources are fresh: NAME=URL=SECONDS, as --lifetime. May be repeated.")
    var tenantLifetime: [String] = []

    @Flag(help: "Serve paths without a signature.")
    var unsigned = false

    @Option(help: "The folder of the cache.")
    var cache = HTTPCache.defaultFolder + "-server"

    @Option(help: "The maximum size of the cache on disk, in bytes.")
    var cacheBytes = 1_000_000_000

    @Option(help: "The maximum size of results in memory, in bytes.")
    var memoryBytes = 128_000_000

    @Option(
        help: "A Redis server, redis:// or rediss://, by which servers share responses and results. By default none.")
    var shared: String?

    @Option(help: "A bucket for shared responses of more than 256 KB, such as s3://bucket/prefix. By default none.")
    var blobs: String?

    @Option(help: "How long files, and responses without a lifetime of their own, are fresh, in seconds.")
    var maxAge = 3600

    @Option(help: "How long a source that its origin doesn't give isn't asked for again, in seconds; 0 for not at all.")
    var errorMaxAge = 5

    @Option(help: "The quality of results whose path has none, 1 to 100.")
    var quality = 80

    @Option(name: .customLong("format-quality"), help: "A format's own quality, such as avif=60. May be repeated.")
    var formatQualities: [String] = []

    @Option(
        name: .customLong("format-pixels"),
        help: "The pixels of results that a format is chosen for, such as avif=0-2000000. May be repeated.")
    var formatSizes: [String] = []

    @Option(
        name: .customLong("lifetime"),
        help: "How long sources below a URL are fresh, and their errors: URL=SECONDS,SECONDS. May be repeated.")
    var lifetimes: [String] = []

    @Option(help: "The file of a picture that stands in for sources that can't be loaded. By default there is none.")
    var fallback: String?

    @Option(help: "How long results with the fallback are fresh, in seconds.")
    var fallbackMaxAge = 60

    @Option(help: "The file of a picture that paths may lay over theirs. By default there is none.")
    var watermark: String?

    @Option(help: "The opacity of the watermark, 0 to 1.")
    var watermarkOpacity = 1.0

    @Option(help: "The file of the token with which a request PURGE removes a picture. By default nobody may.")
    var purgeTokenFile: String?

    @Option(help: "The maximum pixels of a result's longer side.")
    var longestSide = 8192

    @Option(help: "The maximum pixels of a source.")
    var pixels = ImageLimits().pixels

    @Option(help: "Decoding quality: quality, or fast, whose difference is invisible after encoding.")
    var decodeQuality = DecodeQuality.fast

    @Option(help: "HDR gain maps of phones: keep, apply for results in PQ, or drop.")
    var gainMap = GainMapHandling.keep

    @Option(help: "The maximum memory of all decodes at a time, in bytes. Further ones wait.")
    var decodeBytes = 512_000_000

    @Option(help: "How long all work on a picture may take together, encoding included, in seconds.")
    var decodeSeconds = 30

    @Flag(inversion: .prefixedNo, help: "Decode in confined processes. SVG and JPEG XL are read only there.")
    var isolate = true

    @Option(help: "The maximum of results in progress and waiting. Further requests get 503.")
    var queue = 256

    @Option(help: "The maximum of results in progress and waiting of one origin. By default a quarter of --queue.")
    var originQueue: Int?

    @Option(help: "The maximum of open connections. Further ones wait.")
    var maxConnections = 4096

    @Option(help: "How long requests are accepted after SIGTERM, while /health/ready says 503, in seconds.")
    var drainSeconds = 5

    @Option(help: "Which requests get a line in the log: all, errors, or none.")
    var log = RequestLog.Level.errors

    @Option(help: "The port of /metrics alone. By default they are at the port of pictures.")
    var metricsPort: Int?

    @Option(help: "The address to listen at for --metrics-port.")
    var metricsHost = "127.0.0.1"

    @Option(help: "How many requests a second each client may send; 0 for any number.")
    var rate = 100.0

    @Option(help: "How many requests a client may send at once.")
    var burst = 400

    @Option(
        name: .customLong("trust-proxy"),
        help: "Proxies whose X-Forwarded-For is trusted, an address or a network such as 10.0.0.0/8. May be repeated.")
    var proxies: [String] = []

    @Option(
        name: .customLong("preset"),
        help: "A name for options of /thumb/, such as small=200x200,cover. May be repeated.")
    var presets: [String] = []

    @Option(
        name: .customLong("imgproxy-preset"),
        help: "A name for options of /imgproxy/, such as small=rs:fill:200:200. May be repeated.")
    var imgproxyPresets: [String] = []

    @Flag(help: "Read presets alone in the paths of /imgproxy/, in place of options.")
    var imgproxyPresetsOnly = false

    @Option(help: "What is put before the sources of /imgproxy/, such as https://example.com/photos/.")
    var imgproxyBaseURL: String?

    @Option(help: "The file of the key of encrypted sources of /imgproxy/, in hexadecimal.")
    var imgproxySourceKeyFile: String?

    @Flag(help: "Serve only the tiles and sizes of /iiif/ that info.json lists. Else a signature covers every region.")
    var iiifSizes = false

    @Option(
        name: .customLong("picture"), help: "A URL to show in the gallery with the folder's files. May be repeated.")
    var pictures: [String] = []

    @Flag(help: "Serve a gallery of the folder at /, and the traces of recent requests.")
    var gallery = false

    /// Checks what the types of the options don't say.
    func validate() throws {
        func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws {
            guard range.contains(value) else {
                throw ValidationError("--\(name) is \(value); it has to be \(range.lowerBound) to \(range.upperBound).")
            }
        }
        try check("port", port, 0...65535)
        try check("quality", quality, 1...100)
        try check("longest-side", longestSide, 1...65535)
        try check("queue", queue, 1...1_000_000)
        try check("max-age", maxAge, 0...31_536_000)
        try check("error-max-age", errorMaxAge, 0...3600)
        try check("fallback-max-age", fallbackMaxAge, 0...31_536_000)
        try check("burst", burst, 1...1_000_000)
        try check("cache-bytes", cacheBytes, 0...Int.max)
        try check("memory-bytes", memoryBytes, 0...Int.max)
        try check("pixels", pixels, 1...Int.max)
        try check("decode-bytes", decodeBytes, 16_000_000...Int.max)
        try check("decode-seconds", decodeSeconds, 1...86_400)
        try check("max-connections", maxConnections, 1...1_000_000)
        try check("drain-seconds", drainSeconds, 0...3600)
        if let metricsPort { try check("metrics-port", metricsPort, 1...65535) }
        if let originQueue { try check("origin-queue", originQueue, 1...1_000_000) }
        guard rate.isFinite, rate >= 0 else { throw ValidationError("--rate is \(rate); it has to be 0 or more.") }
        guard 0...1 ~= watermarkOpacity else {
            throw ValidationError("--watermark-opacity is \(watermarkOpacity); it has to be 0 to 1.")
        }
        if let folder {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                throw ValidationError("--folder \(folder) is not a folder.")
            }
        }
        guard unsigned || keysFile != nil || !tenantKeys.isEmpty && !gallery else {
            throw ValidationError("Name a --keys-file, or serve unsigned paths with --unsigned.")
        }
        guard folder != nil || !(origins + tenantAllow).isEmpty else {
            throw ValidationError("There is nothing to serve. Name a --folder, or origins with --allow.")
        }
        guard blobs == nil || shared != nil else { throw ValidationError("--blobs needs --shared.") }
        do { _ = try configuration() } catch { throw ValidationError("\(error)") }
    }

    /// What the server serves, and how much work it takes.
    /// - Throws: ``SettingsError``, or `ServerConfigurationError`, for what can't be used.
    func configuration() throws -> ServerConfiguration {
        let mark = try watermark.map { try Watermark(file: $0, opacity: watermarkOpacity) }
        var configuration = try ServerConfiguration(
            hosts: Hosts(publicURL: publicURL, names: hostNames, listeningAt: host), sources: sources(),
            keys: keys(),
            dialects: [
                IIIFDialect(longestSide: longestSide, givesListedOnly: iiifSizes),
                ImgproxyDialect(
                    presets: Self.named("imgproxy-preset", imgproxyPresets), longestSide: longestSide, watermark: mark,
                    givesPresetsOnly: imgproxyPresetsOnly, baseURL: imgproxyBaseURL ?? "",
                    sourceKey: imgproxySourceKeyFile.map { try ServerConfiguration.key(inFile: $0) }),
                ThumbDialect(presets: Self.named("preset", presets), longestSide: longestSide, watermark: mark),
                ThumborDialect(longestSide: longestSide), InfoDialect(),
            ])
        try configuration.setTenants(tenants())
        configuration.servesUnsigned = unsigned
        configuration.clients = try ClientAddresses(proxies: proxies)
        (configuration.requestsPerSecond, configuration.burst) = (rate, burst)
        (configuration.queueLimit, configuration.originQueueLimit) = (queue, originQueue)
        (configuration.maxAge, configuration.errorMaxAge) = (.seconds(maxAge), .seconds(errorMaxAge))
        (configuration.quality, configuration.decodeQuality) = (quality, decodeQuality)
        configuration.gainMap = gainMap == .keep ? nil : gainMap
        configuration.qualities = try ServerConfiguration.qualities(formatQualities)
        configuration.sizes = try ServerConfiguration.sizes(formatSizes)
        configuration.lifetimes = try lifetimes.map(SourceLifetime.init(parsing:))
        configuration.fallback = try fallback.map(ServerConfiguration.picture(inFile:))
        configuration.fallbackMaxAge = .seconds(fallbackMaxAge)
        configuration.purgeToken = try purgeTokenFile.map(ServerConfiguration.token(inFile:))
        // Every page in this machine's browser can reach the loopback address.
        configuration.isCrossOrigin = !unsigned || publicURL != nil || !Hosts.isLoopback(host)
        return configuration
    }

    /// The sources that are loaded.
    /// - Throws: `ServerConfigurationError` for an origin that isn't an http or https URL.
    func sources() throws -> SourcePolicy {
        var sources = try SourcePolicy(folder: folder, prefixes: origins)
        sources.followsLinks = followLinks
        return sources
    }

    /// What loads sources. Objects of a bucket are signed for with the credentials of this machine.
    /// - Throws: `LoadError` with `invalidURL` for addresses or a store that can't be read.
    func client() throws -> any TransferClient {
        var options = CurlClient.Options(addresses: try .publicOnly(allowing: addresses))
        options.userAgent = "image-server/\(PrometheusMetrics.version)"
        let client = CurlClient(options)
        guard (origins + tenantAllow).contains(where: { $0.lowercased().contains(/^([^=]*=)?s3:/) }) else {
            return client
        }
        return SignedForS3(client, at: try S3Endpoint(), credentials: S3CredentialSource())
    }

    /// The keys of the file; `nil` without one, and for a server that serves unsigned paths.
    /// - Throws: `ServerConfigurationError` for a file that can't be read or is malformed.
    func keys() throws -> SigningKeys? {
        try unsigned ? nil : keysFile.map(SigningKeys.init(contentsOfFile:))
    }

    /// The customers that have their own keys.
    /// - Throws: `ServerConfigurationError` for an option or a file that can't be used.
    func tenants() throws -> [Tenant] {
        try Tenant.tenants(
            tenantKeys, sources: tenantAllow, rates: tenantRate, queues: tenantQueue, lifetimes: tenantLifetime)
    }

    /// What a source may cost.
    var limits: ImageLimits {
        ImageLimits(pixels: pixels, memory: decodeBytes, time: .seconds(decodeSeconds))
    }

    /// The bytes that all processes may take: caches, decodes, replies, and 128 MB for the programs themselves.
    var memory: Int {
        memoryBytes + decodeBytes + ServerConfiguration.replyBytes * (1 + tenantKeys.count) + 128_000_000
    }

    /// The servers that share what they fetch and make; `nil` for this one alone.
    /// - Throws: `LoadError` with `invalidURL` for an address that isn't one.
    func fleet(_ clock: any LoadClock, _ metrics: PrometheusMetrics) throws -> Fleet? {
        let blobs = try blobs.map { S3Blobs(try S3Bucket($0)) }
        return try shared.map {
            Fleet(
                try RedisAddress($0), blobs: blobs, clock: clock,
                observers: [FleetMetrics(factory: metrics)])
        }
    }

    /// The formats that are read, in confined processes unless told otherwise.
    /// - Throws: `LoadError` with `refused` if this machine can't confine them.
    func codecs(_ metrics: PrometheusMetrics) async throws -> ImageCodecs {
        guard isolate else { return .standard }
        let pool = try await DecoderPool(
            limits: limits, separatesPartitions: !tenantKeys.isEmpty, givesWay: true)
        metrics.add("pipeline_decoder_deaths_total", help: "Decoders that died or broke the protocol.") {
            Double(pool.statistics.deaths)
        }
        metrics.add("pipeline_decoder_restarts_total", help: "Times that the decoders' helper was started again.") {
            Double(pool.statistics.restarts)
        }
        return try ImageCodecs.standard.adding(.svg).adding(.jxl).isolated(in: pool)
    }

    /// Reads `NAME=OPTIONS`.
    private static func named(_ option: String, _ presets: [String]) throws(SettingsError) -> [String: String] {
        var named: [String: String] = [:]
        for preset in presets {
            let parts = preset.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw SettingsError("Write --\(option) NAME=OPTIONS.") }
            named[String(parts[0])] = String(parts[1])
        }
        return named
    }
}

extension DecodeQuality: @retroactive ExpressibleByArgument {}
extension GainMapHandling: @retroactive ExpressibleByArgument {}
extension RequestLog.Level: @retroactive ExpressibleByArgument {}

/// A setting that can't be used.
struct SettingsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
