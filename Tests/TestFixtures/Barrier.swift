import Pipeline

/// Blocks threads until it is opened.
package final class Barrier: Sendable {
    private let state = Monitor(false)

    package init() {}

    package func open() { state.withLock(wake: .all) { $0 = true } }
    package func wait() { state.wait(for: { $0 ? () : nil }, whileIdle: { _, _ in }) }
}
