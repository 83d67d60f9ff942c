import LibC

/// A thread that runs a loop of its own, and the mailbox through which others reach it. It starts with the first post.
package final class LoopThread<Command: Sendable>: Sendable {
    private struct Mailbox {
        var commands: [Command] = []
        var isStarted = false
        var isStopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []

        var hasEnded: Bool { isStopped && !isStarted }
    }

    private let name: String
    private let loop: @Sendable (LoopThread) throws -> Void
    private let drop: @Sendable ([Command], (any Error)?) -> Void
    private let mailbox = Lock(Mailbox())
    /// Wakes the loop; `nil` while none runs. A lock of its own, since a loop that is woken takes its commands at once and
    /// would wait for the mailbox's.
    private let waking = Lock<(@Sendable () -> Void)?>(nil)

    /// - Parameters:
    ///   - name: The thread's name; at most 15 bytes.
    ///   - loop: Runs on the thread until ``take()`` returns `nil`. If it ends earlier, a later post runs it again.
    ///   - drop: Gets the commands that the loop did not take, with the error that ended it, or `Thread.Refusal`.
    package init(
        name: String, _ loop: @escaping @Sendable (LoopThread) throws -> Void,
        drop: @escaping @Sendable ([Command], (any Error)?) -> Void
    ) {
        (self.name, self.loop, self.drop) = (name, loop, drop)
    }

    /// Passes commands to the loop, which takes them together, and wakes it, even without a command.
    /// - Returns: false if the thread has been stopped.
    @discardableResult
    package func post(_ commands: [Command]) -> Bool {
        let (accepted, starts, wakes) = mailbox.withLock { mailbox -> (Bool, Bool, Bool) in
            guard !mailbox.isStopped else { return (false, false, false) }
            // A loop that has not taken the commands before these is awake already.
            let wakes = mailbox.commands.isEmpty
            mailbox.commands += commands
            defer { mailbox.isStarted = true }
            return (true, !mailbox.isStarted, wakes)
        }
        if starts {
            do { try Thread.start(name: name) { [self] in main() } } catch { end(error) }
        } else if wakes {
            wake()
        }
        return accepted
    }

    /// Wakes the loop, if it runs.
    package func wake() { waking.withLock { $0?() } }

    /// Sets how to wake the loop out of a wait; called by the loop. It is called under a lock, so never after it is taken
    /// back.
    package func wakes(by wake: (@Sendable () -> Void)?) { waking.withLock { $0 = wake } }

    /// Takes the commands that were posted; `nil` once the loop is to end.
    package func take() -> [Command]? {
        mailbox.withLock { mailbox in
            guard !mailbox.isStopped else { return nil }
            defer { mailbox.commands = [] }
            return mailbox.commands
        }
    }

    /// Lets the loop end.
    package func stop() {
        mailbox.withLock { $0.isStopped = true }
        wake()
    }

    /// Waits until the thread that was stopped has ended.
    package func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = mailbox.withLock { mailbox in
                if !mailbox.hasEnded { mailbox.waiters.append(continuation) }
                return mailbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    private func main() {
        // A connection that breaks while a library writes to it must not end the program.
        Thread.blockBrokenPipes()
        do {
            try loop(self)
            end(nil)
        } catch {
            end(error)
        }
    }

    private func end(_ error: (any Error)?) {
        let (left, waiters) = mailbox.withLock { mailbox -> ([Command], [CheckedContinuation<Void, Never>]) in
            mailbox.isStarted = false
            defer { mailbox.commands = [] }
            guard mailbox.hasEnded else { return (mailbox.commands, []) }
            defer { mailbox.waiters = [] }
            return (mailbox.commands, mailbox.waiters)
        }
        drop(left, error)
        for waiter in waiters { waiter.resume() }
    }
}
