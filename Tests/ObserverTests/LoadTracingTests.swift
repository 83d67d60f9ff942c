import InMemoryTracing
import Pipeline
import PipelineTracing
import Stages
import Testing
import Tracing

@Suite("Spans of loads")
struct LoadTracingTests {
    @Test("Each load is a span in its caller's context, each stage a span in the load's")
    func spans() async throws {
        let site = try ObservedSite()
        let tracer = InMemoryTracer()
        try await tracer.withSpan("request") { _ in try await site.visit(LoadTracing(tracer)) }
        let spans = tracer.finishedSpans
        let loads = spans.filter { $0.operationName == "image load" }
        let request = try #require(spans.first { $0.operationName == "request" })
        #expect(loads.count == 4)
        #expect(loads.allSatisfy { $0.parentSpanID == request.spanID })
        #expect(tracer.activeSpans.isEmpty)

        let fetched = try #require(loads.first { $0.attributes.get("image.source") == .string("network") })
        let stages = spans.filter { $0.parentSpanID == fetched.spanID }.map(\.operationName)
        #expect(stages.contains("Fetch"))
        #expect(stages.contains("Decode"))
        #expect(fetched.events.map(\.name).contains("download started"))
        #expect(loads.allSatisfy { !"\($0.attributes)".contains("secret") })
        let failed = try #require(loads.first { $0.status?.code == .error })
        #expect(failed.status?.message?.contains("404") == true)
    }
}
