import Stages

/// Blocks threads until it is opened.
final class Barrier: Sendable {
    private let state = Monitor(false)
    func open() { state.withLock(wake: .all) { $0 = true } }
    func wait() { state.wait(for: { $0 ? () : nil }, whileIdle: { _, _ in }) }
}
