import CCurl
import FoundationEssentials
import Glibc
import Pipeline

/// The thread that runs libcurl, started with the first transfer, and the mailbox for its commands.
final class CurlThread: Sendable {
    enum Command: Sendable {
        case start(CurlTransfer)
        /// The reader has read everything so far and waits for more.
        case resume(CurlTransfer)
        case cancel(CurlTransfer)
        /// Changes its priority, unless it has started.
        case prioritize(CurlTransfer, LoadPriority)
        case stop
    }

    /// Unchecked, and safe: other threads only pass it to `curl_multi_wakeup`, which libcurl allows from any thread,
    /// and only under the mailbox's lock, under which it is taken out before it is freed.
    private struct Multi: @unchecked Sendable {
        let handle: UnsafeMutableRawPointer
    }

    private struct Mailbox {
        var commands: [Command] = []
        var multi: Multi?
        var isStarted = false
        var isStopped = false
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// libcurl requires this once in a program, before anything else.
    private static let isReady = {
        CurlTLS.outlivesExit()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    private let options: CurlClient.Options
    private let mailbox = Lock(Mailbox())

    init(options: CurlClient.Options) { self.options = options }

    /// Posts a command to the thread; returns false if it has been stopped.
    func post(_ command: Command) -> Bool {
        let (accepted, starts) = mailbox.withLock { mailbox -> (Bool, Bool) in
            guard !mailbox.isStopped else { return (false, false) }
            mailbox.commands.append(command)
            // A thread that has not taken the commands before this one is awake already.
            if mailbox.commands.count == 1, let multi = mailbox.multi { curl_multi_wakeup(multi.handle) }
            defer { mailbox.isStarted = true }
            return (true, !mailbox.isStarted)
        }
        if starts {
            do { try Thread.start(name: "curl") { [self] in main() } } catch { end(refusal: error) }
        }
        return accepted
    }

    func takeCommands() -> [Command] {
        mailbox.withLock { mailbox in
            defer { mailbox.commands = [] }
            return mailbox.commands
        }
    }

    /// Lets the thread end; transfers in flight fail.
    func stop() {
        // In one step: a command posted in between would come after the one that stops, and never run.
        mailbox.withLock { mailbox in
            guard !mailbox.isStopped else { return }
            mailbox.isStopped = true
            guard mailbox.isStarted else {
                mailbox.hasEnded = true
                return
            }
            mailbox.commands.append(.stop)
            if mailbox.commands.count == 1, let multi = mailbox.multi { curl_multi_wakeup(multi.handle) }
        }
    }

    /// Waits for the thread's end.
    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = mailbox.withLock { mailbox in
                if !mailbox.hasEnded { mailbox.waiters.append(continuation) }
                return mailbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    private func main() {
        // A connection that breaks while TLS writes to it must not end the program.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        if Self.isReady, let handle = curl_multi_init() {
            mailbox.withLock { $0.multi = Multi(handle: handle) }
            do {
                // The transfers' handles have to be freed before the multi handle.
                let loop = CurlLoop(multi: handle, options: options)
                loop.run(self)
            }
            mailbox.withLock { $0.multi = nil }
            curl_multi_cleanup(handle)
        }
        end()
    }

    /// Fails the transfers that are left, after the thread has ended or could not start. If it couldn't, the next
    /// transfer tries again.
    private func end(refusal: Thread.Refusal? = nil) {
        let (left, waiters) = mailbox.withLock { mailbox -> ([Command], [CheckedContinuation<Void, Never>]) in
            if refusal == nil { mailbox.isStopped = true }
            mailbox.isStarted = refusal == nil
            mailbox.hasEnded = mailbox.isStopped
            defer { mailbox.commands = [] }
            guard mailbox.hasEnded else { return (mailbox.commands, []) }
            defer { mailbox.waiters = [] }
            return (mailbox.commands, mailbox.waiters)
        }
        for case .start(let transfer) in left {
            let error = refusal?.error(redactedURL(transfer.request.url.absoluteString))
            transfer.end(.failure(error ?? CurlFailure.shutDown(transfer)))
            transfer.flush()
        }
        for waiter in waiters { waiter.resume() }
    }
}
