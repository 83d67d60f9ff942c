#if !Fleet
import ArgumentParser
import Essentials
import Pipeline
import Stages

/// Stands for the options of the tier that machines share where the trait `Fleet` is off: there are none.
struct SharedOptions: ParsableArguments {
    var subject: String { "" }

    func fleet(users: HTTPCache.Users = .several) -> Fleet? { nil }

    func usableFleet() async throws -> Fleet? { nil }

    func check(_ policy: CachePolicy) throws {}

    func findings() async -> [DoctorFinding] { [] }
}

/// The fleet of programs without the trait `Fleet`, in which nothing makes one.
final class Fleet: Sendable {
    let cache: HTTPCache

    private init(_ cache: HTTPCache) { self.cache = cache }

    func arrangement(_ policy: CachePolicy, _ resources: PipelineResources) -> ImagePipeline? { nil }

    func join(_ resources: PipelineResources) {}

    func removal(of target: String) async -> (existed: Bool, heard: Int)? { nil }

    func removeAll() async throws -> Int { 0 }

    func removeAllObjects() async throws -> Int? { nil }

    func inspectServer() async throws -> FleetServer? { nil }

    func close() {}
}

/// What such a fleet would tell of its server.
struct FleetServer {
    let usedBytes = 0, byteLimit = 0
}

/// Loads no `s3:` URLs: their requests are signed as the fleet's are.
func S3URLs(_ client: any TransferClient) -> any TransferClient { client }
#endif
