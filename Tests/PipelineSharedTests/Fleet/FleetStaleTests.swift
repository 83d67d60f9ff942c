import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A stale image of a machine whose origin can't be reached", .withRedis, .timeLimit(.minutes(5)))
struct FleetStaleTests {
    private let clock = ManualClock(now: Date())

    /// The machine that has fetched a response, whose copy in the shared tier must not be served stale.
    /// - Parameter isConfirmed: Whether another machine has had the shared copy confirmed since.
    private func fetcher(
        _ site: FleetSite, _ url: URL, isConfirmed: Bool
    ) async throws -> FleetMachine {
        let (fetcher, other) = (site.machine(clock: clock), site.machine(clock: clock))
        #expect(try await fetcher.load(url).source == .network)
        clock.advance(by: .seconds(100))
        if isConfirmed { #expect(try await other.load(url).source == .revalidated) }
        clock.advance(by: .seconds(100))
        site.origin.stop()
        return fetcher
    }

    @Test(
        "stands in, though the shared copy, later or not, may not",
        arguments: ["max-age=60, s-maxage=60", "max-age=60, proxy-revalidate"],
        [false, true])
    func ownCopy(_ control: String, _ isConfirmed: Bool) async throws {
        let site = try FleetSite([.eTag: "\"1\"", .cacheControl: control])
        let url = site.origin.url("/a.png")
        let fetcher = try await fetcher(site, url, isConfirmed: isConfirmed)
        let response = try await fetcher.load(url)
        #expect(response.isStale)
    }

    @Test("stands in from memory, if that is all that it has")
    func memoryAlone() async throws {
        let site = try FleetSite([.eTag: "\"1\"", .cacheControl: "max-age=60, proxy-revalidate"])
        let url = site.origin.url("/a.png")
        let fetcher = try await fetcher(site, url, isConfirmed: true)
        let key = try #require(SourceKey(ImageRequest(url), credentials: fetcher.resources.credentials))
        #expect(await fetcher.resources.responses.store.remove(key) { _ in true }.count == 1)
        let response = try await fetcher.load(url)
        #expect(response.isStale && response.source == .memory)
    }

    @Test("doesn't, if the response forbids it everywhere", arguments: ["max-age=60, must-revalidate"])
    func forbidden(_ control: String) async throws {
        let site = try FleetSite([.eTag: "\"1\"", .cacheControl: control])
        let url = site.origin.url("/a.png")
        let fetcher = try await fetcher(site, url, isConfirmed: true)
        let error = try await #require(throws: LoadError.self) { _ = try await fetcher.load(url) }
        #expect(error.code == .unreachable)
    }
}
