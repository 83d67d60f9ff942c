import Essentials
import PipelineHTTP
public import Pipeline

/// Removes the stored response to a request when the origin answers it with an error that says that it has no such
/// response any more (RFC 9111 section 4.3.3): any 4xx but 412 and 416. A response that is stored replaces it anyway.
///
/// Put it around the stage that asks the origin in a list without a ``Lease``, which does the same for its own tier.
public struct RemoveReplaced: CompositeStage, KeyedStage, CredentialStage, ClockedStage {
    public var body: Chain
    private let responses: HTTPCache

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            composite: "removeReplaced", "Removes a stored response that the origin doesn't have any more."
        ) { RemoveReplaced(resources.responses, $0) }
    }

    /// Wraps the stages that ask the origin; responses are removed from `responses`.
    public init(_ responses: HTTPCache, @ChainBuilder _ body: () -> Chain) {
        self.responses = responses
        self.body = body()
    }

    /// The fields of the cache.
    package var credentials: CredentialFields { responses.users.credentials }

    /// The clock of the cache.
    package var cacheClock: (any LoadClock)? { responses.clock }

    public var identity: StageIdentity? { StageIdentity(over: [responses]) }

    /// Runs the body.
    /// - Throws: The body's errors.
    public func run(_ load: inout Load) async throws -> Outcome {
        let askedAt = load.clock.now
        do {
            try await body.run(&load)
        } catch {
            await responses.removeReplaced(by: error, for: load, askedAt: askedAt)
            throw error
        }
        return .done
    }
}

extension HTTPCache {
    /// Removes the stored response to a load's request if the origin answered it with an error that says that it has no
    /// such response any more.
    func removeReplaced(by error: any Error, for load: Load, askedAt: Date) async {
        guard let status = (error as? LoadError)?.httpStatus, status.evictsStored, load.mayUseStored,
            let key = load.sourceKey
        else { return }
        await evict(key, for: Preconditions.removed(from: load.request.headers), askedAt: askedAt)
    }
}
