import MetricsTestKit
import Pipeline
import PipelineMetrics
import Stages
import Testing

@Suite("Metrics of loads")
struct LoadMetricsTests {
    @Test("Hits, misses, bytes, outcomes and times are counted, by source and by stage")
    func counts() async throws {
        let site = try ObservedSite()
        let metrics = TestMetrics()
        try await site.visit(LoadMetrics(site.resources, factory: metrics))
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
    }
}
