import CSQLite
import Foundation
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Loads with a cache that fails")
struct FaultyCacheLoadTests {
    enum Fault: CaseIterable {
        case damagedPage, cutShort, noDatabase, newerVersion, missingBody, cutBody, removedFolder, fileForFolder
        case clockSetBack
    }

    private let site: Site
    private let log = LogRecorder()

    init() throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        site = try Site(fields)
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        // One whose body is a file: what follows the picture is nobody's business.
        site.origin.route("/long") { _ in
            .init(headers: fields, body: picture + [UInt8](repeating: 0, count: 100_000))
        }
    }

    /// What a program has that has just started, with a log.
    private func pipeline() -> (ImagePipeline, HTTPCache) {
        let cache = HTTPCache(folder: site.folder, clock: site.clock, logger: log.logger)
        let resources = PipelineResources(
            memory: MemoryCache(), responses: cache, flights: Flights(), client: site.client)
        return (.returnCacheElseLoad(resources), cache)
    }

    private func load(_ path: String, _ pipeline: ImagePipeline) async throws {
        let response = try await pipeline.load(ImageRequest(site.origin.url(path)))
        #expect(response.size == PixelSize(width: 160, height: 120))
    }

    private func bring(about fault: Fault) throws {
        let database = site.folder + "/responses.sqlite"
        let bodies = try FileManager.default.contentsOfDirectory(atPath: site.folder + "/bodies")
        let body = site.folder + "/bodies/" + (try #require(bodies.first))
        switch fault {
        case .damagedPage:
            let file = try #require(FileHandle(forWritingAtPath: database))
            try file.seek(toOffset: 16_384)
            try file.write(contentsOf: Data(repeating: 0x5a, count: 60_000))
        case .cutShort: #expect(truncate(database, 40_000) == 0)
        case .noDatabase: try Data(repeating: 7, count: 50_000).write(to: URL(filePath: database))
        case .newerVersion:
            try SQLiteDatabase(path: database, readOnly: false).execute("PRAGMA user_version = 99")
        case .missingBody: #expect(unlink(body) == 0)
        case .cutBody: #expect(truncate(body, 1000) == 0)
        case .removedFolder: try FileManager.default.removeItem(atPath: site.folder)
        case .fileForFolder:
            try FileManager.default.removeItem(atPath: site.folder)
            #expect(FileManager.default.createFile(atPath: site.folder, contents: nil))
        case .clockSetBack: site.clock.advance(by: .seconds(-3 * 86_400))
        }
    }

    @Test(
        "Each load has its image, at most one warning is logged, and what can heal has healed",
        arguments: Fault.allCases)
    func faults(fault: Fault) async throws {
        let (first, cache) = pipeline()
        for path in ["/a", "/b", "/long"] { try await load(path, first) }
        await cache.close()
        try bring(about: fault)

        let (second, faulty) = pipeline()
        for path in ["/a", "/b", "/long", "/c"] { try await load(path, second) }
        #expect(log.warnings.count <= 1)
        switch fault {
        case .newerVersion, .fileForFolder:
            #expect(log.warnings.count == 1)
            #expect(try await faulty.statistics() == nil)
        default:
            let before = site.requests
            let (third, healed) = pipeline()
            for path in ["/a", "/b", "/long", "/c"] { try await load(path, third) }
            #expect(site.requests == before)
            // The files of a database that was damaged go while loads run.
            let bodies = try #require(try await healed.statistics()).bodyFiles
            while TemporaryFolder.names(site.folder + "/bodies").count > bodies { await Task.yield() }
            #expect(try await healed.verify().findings == [])
        }
    }

    @Test("A folder that is removed under a running program comes back")
    func removedUnderway() async throws {
        let (pipeline, cache) = pipeline()
        try await load("/a", pipeline)
        try FileManager.default.removeItem(atPath: site.folder)
        for path in ["/b", "/long"] { try await load(path, pipeline) }
        #expect(try await cache.statistics()?.entries == 2)
        #expect(log.warnings == [])
    }

    @Test("No file in the folder holds a credential, and nobody else may read any")
    func privacy() async throws {
        let (pipeline, cache) = pipeline()
        let url = try #require(
            URL(string: site.origin.url("/long").absoluteString.replacing("http://", with: "http://user:hunter2@")))
        site.origin.route("/vary") { [site] _ in
            .init(headers: [.cacheControl: "max-age=60", .vary: "Cookie, Authorization"], body: site.picture)
        }
        for address in [url, site.origin.url("/vary")] {
            let headers: HTTPFields = [.authorization: "Bearer hunter3", .cookie: "session=hunter4"]
            _ = try await pipeline.load(ImageRequest(.url(address), headers: headers, partition: "tenant"))
        }
        #expect(try await cache.statistics()?.entries == 2)
        let files = try #require(FileManager.default.enumerator(atPath: site.folder)).compactMap { $0 as? String }
        #expect(Set(files).isSuperset(of: ["responses.sqlite", "responses.sqlite-wal", "bodies", "leases"]))
        for file in files {
            let path = site.folder + "/" + file
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(file)")
            guard !isFolder else { continue }
            let content = try Data(contentsOf: URL(filePath: path))
            #expect(content.firstRange(of: Data("hunter".utf8)) == nil, "\(file)")
        }
    }
}

extension Site {
    /// A 160×120 picture.
    fileprivate var picture: [UInt8] { (try? Pictures.bytes("good/webp-lossy.webp")) ?? [] }
}
