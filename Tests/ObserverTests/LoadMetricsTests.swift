import Essentials
import HTTPTypes
import MetricsTestKit
import Pipeline
import PipelineMetrics
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Metrics of loads")
struct LoadMetricsTests {
    @Test("Hits, misses, bytes, outcomes and times are counted, by source and by stage")
    func counts() async throws {
        let site = try ObservedSite()
        let metrics = TestMetrics()
        // Other tests decode at the same time, on the threads for that.
        let threads = BlockingThreads(name: "idle", count: 1)
        try await site.visit(LoadMetrics(site.resources, threads: threads, factory: metrics))
        #expect(metrics.counterTotal(label: "pipeline_loads", dimensions: [("outcome", "delivered")]) == 3)
        #expect(metrics.counterTotal(label: "pipeline_loads", dimensions: [("outcome", "failed")]) == 1)
        #expect(metrics.counterTotal(label: "pipeline_hits", dimensions: [("source", "memory")]) == 1)
        #expect(metrics.counterTotal(label: "pipeline_misses") == 2)
        #expect(metrics.counterTotal(label: "pipeline_received_bytes") == Int64(site.picture.count))
        #expect(try metrics.expectTimer("pipeline_load_seconds").values.count == 4)
        #expect(try metrics.expectTimer("pipeline_stage_seconds", [("stage", "Fetch")]).values.count == 2)
        #expect(try metrics.expectTimer("pipeline_stage_seconds", [("stage", "MemoryLookup")]).values.count == 4)
        #expect(try metrics.expectGauge("pipeline_in_flight").values.count == 8)
        #expect(try metrics.expectGauge("pipeline_queue_depth").lastValue == 0)
        #expect(try metrics.expectGauge("pipeline_confined").lastValue == 1)
    }

    @Test("A loader that decodes in the program says so from the first load")
    func unconfined() async throws {
        let metrics = TestMetrics()
        var resources = try ObservedSite().resources
        resources.isolation = .none
        let loader = ImageLoader(resources, observers: [LoadMetrics(resources, factory: metrics)])
        _ = try await loader.load(.bytes(Picture.png(PixelSize(width: 4, height: 3))))
        #expect(try metrics.expectGauge("pipeline_confined").lastValue == 0)
    }

    @Test("Prefetched images are counted, and those that a load asked for, in the same size or another")
    func prefetches() async throws {
        let (clock, picture) = (ManualClock(), Picture.png(PixelSize(width: 40, height: 30)))
        let origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000, clock: clock),
            client: CurlClient(.local))
        let metrics = TestMetrics()
        let loader = ImageLoader(resources, observers: [LoadMetrics(resources, factory: metrics)])
        let prefetcher = Prefetcher(loader, options: LoadOptions(maxPixelSize: 20))
        prefetcher.start((0..<4).map { origin.url("/\($0)") })
        for await _ in prefetcher.progress {}
        _ = try await loader.load(origin.url("/0"), options: LoadOptions(maxPixelSize: 20))
        _ = try await loader.load(origin.url("/1"), options: LoadOptions(maxPixelSize: 20))
        _ = try await loader.load(origin.url("/2"), options: LoadOptions(maxPixelSize: 10))
        func used(_ size: String) -> Int64 {
            metrics.counterTotal(label: "pipeline_prefetches_used", dimensions: [("size", size)])
        }
        #expect(metrics.counterTotal(label: "pipeline_prefetched") == 4)
        #expect((used("same"), used("other")) == (2, 1))
    }

    @Test("A download that was cancelled after bytes had arrived is counted as wasted")
    func wasted() async throws {
        let (gate, picture) = (try ScriptedOrigin.Gate(), Picture.png(PixelSize(width: 400, height: 300)))
        let origin = try ScriptedOrigin { _ in .init(body: picture).held(until: gate, after: 100) }
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000),
            client: CurlClient(.local))
        let metrics = TestMetrics()
        let loader = ImageLoader(resources, observers: [LoadMetrics(resources, factory: metrics)])
        let (arrived, send) = AsyncStream<Void>.makeStream()
        let load = Task {
            try await loader.load(.url(origin.url("/a"))) { event in if case .progress = event { send.finish() } }
        }
        for await _ in arrived {}
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(metrics.counterTotal(label: "pipeline_wasted_downloads") == 1)
        #expect(metrics.counterTotal(label: "pipeline_wasted_bytes") >= 100)
        gate.open()
    }

    @Test("Bytes are those that an origin has sent: a 304 brings none, and any fetcher's count")
    func receivedBytes() async throws {
        let (clock, picture) = (ManualClock(), Picture.png(PixelSize(width: 40, height: 30)))
        let origin = try ScriptedOrigin { request in
            let fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=60"]
            return request.headers[.ifNoneMatch] == nil
                ? .init(headers: fields, body: picture) : .init(status: 304, headers: fields)
        }
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000, clock: clock),
            client: CurlClient(.local))
        let metrics = TestMetrics()
        let loader = ImageLoader(resources, observers: [LoadMetrics(resources, factory: metrics)])
        _ = try await loader.load(origin.url("/a"))
        clock.advance(by: .seconds(61))
        #expect(try await loader.load(origin.url("/a")).source == .revalidated)
        #expect(metrics.counterTotal(label: "pipeline_received_bytes") == Int64(picture.count))

        let own = try ImageLoader(resources, observers: [LoadMetrics(resources, factory: metrics)]) { _, _ in
            ImagePipeline(clock: clock) {
                ResolveIdentifier()
                StubStage("Bring", accepts: .empty, produces: .original) { load in
                    guard case .url(let url) = load.request.source else { return .skipped }
                    load.deliver(HTTPExchange(url: url, bytes: picture, mediaType: "image/png", at: load.clock.now))
                    return .done
                }
                Decode()
            }
        }
        let misses = metrics.counterTotal(label: "pipeline_misses")
        _ = try await own.load(origin.url("/b"))
        #expect(metrics.counterTotal(label: "pipeline_misses") == misses + 1)
        #expect(metrics.counterTotal(label: "pipeline_received_bytes") == Int64(2 * picture.count))
    }
}
