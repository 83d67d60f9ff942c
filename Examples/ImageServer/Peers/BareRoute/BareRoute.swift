import ArgumentParser
import Foundation
import Hummingbird
import Logging

/// One route that answers the bytes of a file: what the image server's cached results are measured against.
@main
struct BareRoute: AsyncParsableCommand {
    @Argument(help: "The file.")
    var file: String

    func run() async throws {
        let bytes = ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: file)))
        let router = Router()
        router.get("**") { _, _ in
            Response(status: .ok, headers: [.contentType: "image/jpeg"], body: .init(byteBuffer: bytes))
        }
        var logger = Logger(label: "bare-route")
        logger.logLevel = .notice
        // As the image server sets itself up: a server without a time limit for idle connections isn't put to use.
        let application = Application(
            router: router, server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname("127.0.0.1", port: 0), backlog: 1024),
            onServerRunning: { channel in
                print("listening on port \(channel.localAddress?.port ?? 0)")
                fflush(nil)
            }, logger: logger)
        try await application.runService()
    }
}
