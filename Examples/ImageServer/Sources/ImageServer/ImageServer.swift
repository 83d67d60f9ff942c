import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import Metrics
import PipelineHummingbird
import PipelineMetrics
import PipelineServer
import PipelineServiceLifecycle
import PipelineShared
import ServiceLifecycle
import Stages

/// An image server: the library's pipelines behind HTTP.
@main
struct ImageServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-server",
        abstract:
            "Serves images in other sizes and formats, by the IIIF Image API, imgproxy's paths and paths of its own.",
        discussion: """
            Each option may also stand in a file, which --config names, as a line such as max-age = 3600, and in the \
            environment, as in IMAGE_SERVER_MAX_AGE=3600. An option wins over the environment, which wins over the file.
            """,
        version: PrometheusMetrics.version, subcommands: [ServeCommand.self, PicturesCommand.self],
        defaultSubcommand: ServeCommand.self)

    static func main() async {
        do {
            let arguments = try SettingsSources.arguments(
                Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            exit(withError: error)
        }
    }
}

/// Runs the server until it is asked to shut down.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Runs the server.")

    @OptionGroup var settings: Settings

    @Flag(help: "Print the settings as a file of settings, and don't serve.")
    var printConfig = false

    mutating func run() async throws {
        guard !printConfig else {
            print(SettingsSources.text(of: settings))
            print("# Memory of all processes: \(settings.memory) bytes (memory-bytes, decode-bytes, replies, programs)")
            return
        }
        // Results from memory shouldn't wait behind decodes.
        BlockingThreads.decoding.giveWay()
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let server = try Server(settings, codecs: try await settings.codecs(metrics), metrics: metrics)
        try await server.run { port in
            print("listening on port \(port)")
            // A script that has started the server waits for this line.
            fflush(nil)
        }
    }
}

/// The parts of a running server.
struct Server: Sendable {
    let responder: ImageResponder
    let settings: Settings
    private let metrics: PrometheusMetrics
    private let log: RequestLog

    /// - Parameters:
    ///   - settings: The command's options.
    ///   - codecs: The formats that are read.
    ///   - metrics: Where everything is counted.
    ///   - clock: The clock of caches, signatures and rate limits.
    /// - Throws: An error for a setting that can't be used.
    init(
        _ settings: Settings, codecs: ImageCodecs, metrics: PrometheusMetrics, clock: any LoadClock = SystemClock()
    ) throws {
        (self.settings, self.metrics) = (settings, metrics)
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: settings.memoryBytes, trimsUnderPressure: true),
            responses: HTTPCache(
                folder: settings.cache, byteLimit: settings.cacheBytes, isShared: true, clock: clock),
            client: try settings.client(), codecs: codecs, isolation: settings.isolate ? .automatic : .none,
            limits: settings.limits)
        let (memory, responses) = (resources.memory, resources.responses)
        metrics.add("pipeline_memory_bytes", help: "Bytes of results in memory.") { Double(memory.byteCount) }
        metrics.add("pipeline_disk_bytes", help: "Bytes of responses and results on disk.") {
            (try? await responses.statistics()).flatMap { $0 }.map { Double($0.bytes) }
        }
        resources.budget = MemoryBudget(bytes: settings.decodeBytes)
        resources.allowedSources = settings.folder == nil ? .remote : [.remote, .files]
        let fleet = try settings.fleet(clock, metrics)
        fleet?.join(resources)
        var configuration = try settings.configuration()
        if let fleet { configuration.arrangement = { $0.sharing(fleet) } }
        let recent = RecentRequests()
        let gallery = settings.gallery ? try Gallery(settings, recent) : nil
        let hasMetrics = settings.metricsPort == nil
        configuration.pages = { request, responder in
            let path = request.path?.prefix { $0 != "?" } ?? ""
            return hasMetrics && path == "/metrics" ? await metrics.page() : try gallery?.page(request, responder)
        }
        let loader = ImageLoader(
            resources,
            observers: [LoadMetrics(resources, factory: metrics)] + (gallery == nil ? [] : [recent]))
        log = RequestLog(settings.log)
        responder = ImageResponder(configuration, loader: loader, metrics: metrics, log: log)
        gallery?.prepare(responder)
    }

    /// Reads the files of keys again.
    /// - Throws: An error for a file that can't be used; all keys stay then.
    func readKeys() throws { try responder.replaceKeys(settings.keys(), tenants: settings.tenants()) }

    /// Runs the server until a signal stops it. `isRunning` is called with the port once requests are accepted.
    func run(_ isRunning: @escaping @Sendable (Int) -> Void) async throws {
        let (stops, stop) = AsyncStream<Void>.makeStream()
        let signals = ImageServerSignals(
            responder, drainTime: .seconds(settings.drainSeconds), logger: logger,
            reload: readKeys,
            stop: { stop.yield() })
        let group = ServiceGroup(
            services: [application(isRunning), signals] + metricsApplication, gracefulShutdownSignals: [],
            logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                for await _ in stops { await group.triggerGracefulShutdown() }
            }
            try await tasks.next()
            tasks.cancelAll()
        }
        await log.flush()
    }

    /// Serves the metrics at their own port.
    private var metricsApplication: [any Service] {
        guard let port = settings.metricsPort else { return [] }
        let (metrics, hosts) = (metrics, Hosts(observedAt: settings.metricsHost, names: settings.hostNames))
        let router = Router()
        router.get("/metrics") { request, _ in Response(await metrics.response(to: request.head, hosts: hosts)) }
        return [
            Application(
                router: router, configuration: .init(address: .hostname(settings.metricsHost, port: port)),
                logger: logger)
        ]
    }

    private var logger: Logger {
        var logger = Logger(label: "image-server")
        logger.logLevel = .notice
        return logger
    }

    /// The program to run. `isRunning` is called with the port once requests are accepted.
    func application(_ isRunning: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol {
        Application(
            responder: ImageMiddleware<ConnectionRequestContext>(responder), server: .http1(images: responder),
            configuration: .init(
                address: .hostname(settings.host, port: settings.port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(fittingFiles: settings.maxConnections)),
            // It ends after the server, which first finishes its requests.
            services: [PipelineService(responder.loader)],
            onServerRunning: { channel in isRunning(channel.localAddress?.port ?? 0) }, logger: logger)
    }
}
