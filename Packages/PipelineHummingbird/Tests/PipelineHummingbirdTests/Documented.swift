import Hummingbird
import HummingbirdCore
import Metrics
import PipelineHummingbird
import PipelineServer
import Stages

/// What the page on the package shows: pictures and a route of the application's own.
func application(
    folder: String, keys: SigningKeys?, loader: ImageLoader, metrics: any MetricsFactory
) throws -> some ApplicationProtocol {
    let sources = SourcePolicy(folder: folder)
    let configuration = try ServerConfiguration(hosts: Hosts(listeningAt: "127.0.0.1"), sources: sources, keys: keys)
    let images = ImageResponder(configuration, loader: loader, metrics: metrics)
    let router = Router(context: ConnectionRequestContext.self)
    router.add(middleware: ImageMiddleware(images))
    router.get("/hello") { _, _ in "Hello" }
    let app = Application(router: router, server: .http1(images: images))
    return app
}
