import Logging
import Pipeline

@testable import PipelineShared

/// Keeps events and warnings, for a test to look at.
final class EventRecorder: FleetObserver {
    private struct State {
        var events: [FleetEvent] = []
        var warnings: [String] = []
        var waiters: [(condition: @Sendable ([FleetEvent]) -> Bool, waiter: Waiter<Void>)] = []
    }

    private let state = Lock(State())

    var events: [FleetEvent] { state.withLock { $0.events } }
    var warnings: [String] { state.withLock { $0.warnings } }

    /// Waits until the events so far satisfy a condition.
    func until(_ condition: @escaping @Sendable ([FleetEvent]) -> Bool) async {
        let waiter = Waiter<Void>()
        let isSatisfied = state.withLock { state in
            if !condition(state.events) { state.waiters.append((condition, waiter)) }
            return condition(state.events)
        }
        if !isSatisfied { try? await waiter.value { waiter.resume(with: .success(())) } }
    }

    func observe(_ event: FleetEvent) {
        let waiters = state.withLock { state in
            state.events.append(event)
            let events = state.events
            defer { state.waiters.removeAll { $0.condition(events) } }
            return state.waiters.filter { $0.condition(events) }.map(\.waiter)
        }
        for waiter in waiters { waiter.resume(with: .success(())) }
    }

    var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: EventRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard event.level >= .warning else { return }
            recorder.state.withLock { $0.warnings.append("\(event.message)") }
        }
    }
}
