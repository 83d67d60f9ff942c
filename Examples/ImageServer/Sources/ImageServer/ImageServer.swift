import ArgumentParser
import Foundation
import Hummingbird
import Logging
import Metrics
import PipelineMetrics
import PipelineServiceLifecycle
import PipelineShared
import Stages

/// An image server: the library's pipelines behind HTTP.
@main
struct ImageServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-server",
        abstract:
            "Serves images in other sizes and formats, by the IIIF Image API, imgproxy's paths and paths of its own.",
        subcommands: [ServeCommand.self, PicturesCommand.self], defaultSubcommand: ServeCommand.self)
}

/// Runs the server until it is asked to shut down.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Runs the server.")

    @OptionGroup var settings: Settings

    mutating func run() async throws {
        // Results from memory shouldn't wait behind decodes.
        BlockingThreads.decoding.giveWay()
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let server = try Server(settings, codecs: try await settings.codecs(), metrics: metrics)
        try await server.application { port in
            print("listening on port \(port)")
            // A script that has started the server waits for this line.
            fflush(nil)
        }.runService()
    }
}

/// The parts of a running server.
struct Server: Sendable {
    let resources: PipelineResources
    let loader: ImageLoader
    let responder: ImageResponder
    private let settings: Settings

    /// - Parameters:
    ///   - settings: The command's options.
    ///   - codecs: The formats that are read.
    ///   - metrics: Where everything is counted.
    ///   - clock: The clock of caches, signatures and rate limits.
    /// - Throws: ``SettingsError`` or `LoadError` for a setting that can't be used.
    init(
        _ settings: Settings, codecs: ImageCodecs, metrics: PrometheusMetrics, clock: any LoadClock = SystemClock()
    ) throws {
        self.settings = settings
        var options = CurlClient.Options(addresses: try .publicOnly(allowing: settings.addresses))
        options.userAgent = "image-server/0.1"
        let sources = SourcePolicy(folder: settings.folder, origins: try settings.allowedOrigins())
        options.allows = { sources.allows($0) }
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: settings.memoryBytes, trimsUnderPressure: true),
            responses: HTTPCache(
                folder: settings.cache, byteLimit: settings.cacheBytes, isShared: true, clock: clock),
            client: CurlClient(options), codecs: codecs, isolation: settings.isolate ? .automatic : .none,
            limits: settings.limits)
        resources.allowedSources = settings.folder == nil ? .remote : [.remote, .files]
        self.resources = resources
        loader = ImageLoader(resources, observers: [LoadMetrics(resources, factory: metrics)])
        let fleet = try settings.fleet(clock, metrics)
        fleet?.join(resources)
        responder = try ImageResponder(settings, loader: loader, fleet: fleet, metrics: metrics)
    }

    /// The program to run. `isRunning` is called with the port once requests are accepted.
    func application(_ isRunning: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol {
        var logger = Logger(label: "image-server")
        logger.logLevel = .notice
        let connections = responder.connections
        return Application(
            responder: responder,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [ClientGone(connections)], idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(settings.host, port: settings.port), backlog: 1024),
            // It ends after the server, which first finishes its requests.
            services: [PipelineService(loader)],
            onServerRunning: { channel in isRunning(channel.localAddress?.port ?? 0) }, logger: logger)
    }
}
