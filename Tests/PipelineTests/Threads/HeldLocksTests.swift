import Pipeline
import Testing

#if DEBUG
@Suite("Locks that a thread holds, in debug builds")
struct HeldLocksTests {
    @Test("Each lock counts while its body runs, also where the body throws")
    func counted() {
        let lock = Lock(0)
        #expect(HeldLocks.count == 0)
        #expect(lock.withLock { _ in HeldLocks.count } == 1)
        let inner = Lock(0)
        #expect(lock.withLock { _ in inner.withLock(isInner: true) { _ in HeldLocks.count } } == 2)
        #expect(throws: CancellationError.self) { try lock.withLock { _ in throw CancellationError() } }
        #expect(HeldLocks.count == 0)
        HeldLocks.requireNone()
    }

    @Test("Taking a lock while another is held ends the program, unless the lock is meant for that")
    func nested() async {
        await #expect(processExitsWith: .failure) {
            let (outer, inner) = (Lock(0), Lock(0))
            outer.withLock { _ in inner.withLock { _ in } }
        }
        await #expect(processExitsWith: .success) {
            let (outer, inner) = (Lock(0), Lock(0))
            outer.withLock { _ in inner.withLock(isInner: true) { _ in } }
        }
    }

    @Test("Code that isn't ours ends the program if it would run under a lock")
    func calledOut() async {
        await #expect(processExitsWith: .failure) { Lock(0).withLock { _ in HeldLocks.requireNone() } }
    }
}
#endif
