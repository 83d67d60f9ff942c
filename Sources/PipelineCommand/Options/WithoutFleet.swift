#if !Fleet
import ArgumentParser
import Pipeline
import Stages

/// Stands for the options of the tier that machines share where the trait `Fleet` is off: there are none.
struct SharedOptions: ParsableArguments {
    let subject = ""

    func fleet(users: HTTPCache.Users = .several) -> Fleet? { nil }

    func usableFleet() async throws -> Fleet? { nil }

    func check(_ policy: CachePolicy) {}

    func findings() async -> [DoctorFinding] { [] }
}

/// The fleet that there never is.
enum Fleet {
    var cache: HTTPCache { switch self {} }

    func arrangement(_ policy: CachePolicy, _ resources: PipelineResources) -> ImagePipeline? { switch self {} }

    func join(_ resources: PipelineResources) {}

    func remove(_ url: URL) async -> Bool { switch self {} }

    func remove(tag: String) async -> Bool { switch self {} }

    func removeAll() async throws -> Int { switch self {} }

    func inspectServer() async throws -> FleetServer { switch self {} }

    func close() {}
}

/// The server that there never is.
enum FleetServer {
    var usedBytes: Int { switch self {} }

    var byteLimit: Int { switch self {} }
}

/// Loads no `s3:` URLs: their requests are signed as the fleet's are.
func S3URLs(_ client: any TransferClient) -> any TransferClient { client }
#endif
