import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

/// One of the two ways to the same cache, in words that both have.
protocol ScenarioFront: Sendable {
    func get(_ url: URL, _ request: Scenario.Request) async -> Scenario.Answer
    func remove(_ url: URL) async
    func removeAll() async
    /// Returns when nothing is running in the background.
    func settle() async
}

/// An ``ImageLoader`` by whose list HTTP's rules alone decide.
struct LoaderFront: ScenarioFront {
    let loader: ImageLoader
    let pictures: ScenarioPictures

    init(_ cache: HTTPCache, _ client: any TransferClient, _ clock: ManualClock, _ pictures: ScenarioPictures) {
        let resources = PipelineResources(
            memory: MemoryCache(), responses: cache, client: client)
        loader = ImageLoader(resources, defaults: LoadOptions(maxPixelSize: nil, policy: .useProtocol))
        self.pictures = pictures
    }

    func get(_ url: URL, _ request: Scenario.Request) async -> Scenario.Answer {
        var options = loader.defaults
        options.headers = ScenarioFields.parse(request.fields)
        options.identifier = request.identifier
        options.partition = request.partition
        // Every other list goes by the request's expiry.
        if let expiry = request.expiry {
            options.policy = .standard
            options.expiry = expiry
        }
        do {
            let response = try await loader.load(url, options: options)
            let label = pictures.label(ofPixels: response.image.pixels)
            return .init(content: .image(label), source: response.isStale ? .stale : Self.source(response.source))
        } catch let error as LoadError {
            return .init(content: Self.content(of: error), source: nil)
        } catch {
            return .init(content: .error("\(error)"), source: nil)
        }
    }

    static func content(of error: LoadError) -> Scenario.Answer.Content {
        switch error.code {
        case .httpStatus: .status(error.httpStatus ?? 0)
        case .unreachable, .timedOut: .unreachable
        case .notCached: .notCached
        default: .error(error.code.rawValue)
        }
    }

    private static func source(_ source: LoadSource) -> Scenario.Answer.Source {
        switch source {
        case .network: .origin
        case .revalidated: .revalidated
        default: .cache
        }
    }

    func remove(_ url: URL) async { await loader.remove(url) }
    func removeAll() async { await loader.removeAll() }
    func settle() async { await loader.resources.flights.drain() }
}

/// A ``CachingClient``.
struct CachingFront: ScenarioFront {
    let client: CachingClient
    let pictures: ScenarioPictures

    func get(_ url: URL, _ request: Scenario.Request) async -> Scenario.Answer {
        do {
            let response = try await client.send(
                CachingRequest(
                    url: url, headers: ScenarioFields.parse(request.fields), partition: request.partition))
            return answer(response)
        } catch let error as LoadError {
            return .init(content: LoaderFront.content(of: error), source: nil)
        } catch {
            return .init(content: .error("\(error)"), source: nil)
        }
    }

    private func answer(_ response: CachingResponse) -> Scenario.Answer {
        guard response.status == 200 else {
            let last = response.steps.last
            // The cache's own word where a stored response may not be used.
            guard response.status == 504, last?.status == nil else {
                return .init(content: .status(response.status), source: nil)
            }
            return .init(content: last?.sent == nil ? .notCached : .unreachable, source: nil)
        }
        let source: Scenario.Answer.Source =
            switch response.use {
            case .hit: .cache
            case .stale: .stale
            case .revalidated: .revalidated
            case .miss, .none: .origin
            }
        return .init(content: .image(pictures.label(ofFile: response.body)), source: source)
    }

    func remove(_ url: URL) async { await client.invalidate(url) }
    func removeAll() async { await client.cache.removeAll() }
    func settle() async { await client.drain() }
}
