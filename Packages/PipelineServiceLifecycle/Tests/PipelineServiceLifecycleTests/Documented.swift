import Logging
import PipelineIsolation
import PipelineServiceLifecycle
import PipelineShared
import PipelineSharedServiceLifecycle
import ServiceLifecycle
import Stages

/// What the page on the package shows: a server whose parts end with it.
func run(
    _ resources: PipelineResources, _ logger: Logger, server: (ImageLoader) -> any Service
) async throws {
    var resources = resources
    let pool = try await DecoderPool()
    let fleet = Fleet(try RedisAddress("redis://cache.internal"))
    resources.codecs = try resources.codecs.isolated(in: pool)
    let loader = try ImageLoader(resources, arrangement: fleet.arrangement)
    fleet.join(resources)
    let services = ServiceGroup(
        services: [PipelineService(pool), PipelineService(fleet), PipelineService(loader), server(loader)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await services.run()
}
