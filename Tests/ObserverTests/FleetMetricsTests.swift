import MetricsTestKit
import PipelineShared
import PipelineSharedMetrics
import Testing

@Suite("Metrics of a fleet")
struct FleetMetricsTests {
    @Test("Hits, leases, waits, refusals, invalidations and failures are counted, by what failed")
    func counts() throws {
        let metrics = TestMetrics()
        let fleet = FleetMetrics(factory: metrics)
        let events: [FleetEvent] = [
            .lookedUp(isHit: true), .lookedUp(isHit: true), .lookedUp(isHit: false), .leased, .stored(bytes: 20),
            .stored(bytes: 3), .waited(.milliseconds(5)), .commitRefused, .invalidated, .droppedMemory,
            .deaf("refused"), .behind(.milliseconds(1500)), .listening, .latency(.milliseconds(20)), .refused("NOPERM"),
            .lost("it didn't reply in time"), .full, .hasRoom, .blobsLost("it responded with 500"), .restored,
            .blobsRefused("403"),
        ]
        for event in events { fleet.observe(event) }
        func total(_ name: String, _ dimensions: [(String, String)] = []) -> Int64 {
            metrics.counterTotal(label: "pipeline_fleet_\(name)", dimensions: dimensions)
        }
        #expect(total("lookups", [("outcome", "hit")]) == 2)
        #expect(total("lookups", [("outcome", "miss")]) == 1)
        #expect(total("stored") == 2 && total("stored_bytes") == 23)
        #expect(total("leases") == 1 && total("refused_commits") == 1 && total("invalidations") == 1)
        #expect(total("dropped_memory") == 1 && total("refused_requests") == 1)
        #expect(total("refused_reads") == 1)
        #expect(try metrics.expectTimer("pipeline_fleet_wait_seconds").values == [5_000_000])
        #expect(try metrics.expectGauge("pipeline_fleet_behind_seconds").values == [0, 1.5, 0])
        #expect(try metrics.expectGauge("pipeline_fleet_latency_seconds").values == [0.02])
        for part in ["redis", "messages", "blobs", "memory"] { #expect(total("failures", [("part", part)]) == 1) }
        #expect(try metrics.expectGauge("pipeline_fleet_available", [("part", "redis")]).values == [0, 1])
        #expect(try metrics.expectGauge("pipeline_fleet_available", [("part", "messages")]).values == [0, 1])
        #expect(try metrics.expectGauge("pipeline_fleet_available", [("part", "blobs")]).values == [0])
        #expect(try metrics.expectGauge("pipeline_fleet_available", [("part", "memory")]).values == [0, 1])
    }
}
