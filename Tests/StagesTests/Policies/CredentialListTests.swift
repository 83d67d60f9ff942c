import Foundation
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Lists over a cache that tells users apart by fields of its own")
struct CredentialListTests {
    private let site: Site
    private let responses: HTTPCache

    init() throws {
        site = try Site()
        let fields = CredentialFields.standard.adding("X-Session")
        responses = HTTPCache(folder: site.folder, users: .several(fields), clock: site.clock)
    }

    /// A stage that goes by the keys, in a list that says what settles them.
    private func lists(_ resolve: any Stage) -> [(name: String, chain: Chain)] {
        let fetch = Fetch(site.client)
        let limits = ErrorLimits(clientErrors: .init(attempts: 1, maxAge: .seconds(60)))
        return [
            ("Lookup", Chain([resolve, Lookup(responses), fetch])),
            ("Lease", Chain([resolve, Lease(responses) { fetch }])),
            ("LimitErrors", Chain([resolve, LimitErrors(limits, in: responses) { fetch }])),
            ("Store", Chain([resolve, fetch, Store(originals: responses)])),
        ]
    }

    @Test("One that makes its keys without these fields is refused: users would get each other's responses")
    func refused() throws {
        for (name, chain) in lists(ResolveIdentifier()) {
            let error = #expect(throws: LoadError.self) { try ImagePipeline(validating: chain) }
            #expect(error?.code == .stageContract)
            #expect(error?.message.hasPrefix("\(name) would mix up users") == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("apart by x-session") == true)
            #expect(error?.message.contains("ResolveIdentifier(credentials: cache.users.credentials)") == true)
        }
    }

    @Test("One that makes them with these fields, or more, or by a stage of the program's own, is not")
    func accepted() throws {
        let own = ClosureStage("Own", produces: .empty, identifies: true) { _ in .done }
        let more = ResolveIdentifier(credentials: responses.users.credentials.adding("X-Tenant"))
        for resolve: any Stage in [ResolveIdentifier(credentials: responses.users.credentials), more, own] {
            for (_, chain) in lists(resolve) { _ = try ImagePipeline(validating: chain) }
        }
        let one = HTTPCache(folder: site.folder, users: .one)
        _ = try ImagePipeline(validating: Chain([ResolveIdentifier(), Lookup(one)]))
    }
}
