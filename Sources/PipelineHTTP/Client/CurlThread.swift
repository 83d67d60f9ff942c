import CCurl
import Essentials
import Pipeline

/// The thread that runs libcurl, started with the first transfer.
final class CurlThread: Sendable {
    enum Command: Sendable {
        case start(CurlTransfer)
        /// The reader has read everything so far and waits for more.
        case resume(CurlTransfer)
        case cancel(CurlTransfer)
        /// Changes its priority, unless it has started.
        case prioritize(CurlTransfer, LoadPriority)
    }

    /// Unchecked, and safe: other threads only pass it to `curl_multi_wakeup`, which libcurl allows from any thread, and
    /// only until it is taken back from the thread.
    private struct Multi: @unchecked Sendable {
        let handle: UnsafeMutableRawPointer
    }

    /// libcurl requires this once in a program, before anything else.
    private static let isReady = {
        CurlTLS.outlivesExit()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    private let thread: LoopThread<Command>

    init(options: CurlClient.Options) {
        thread = LoopThread(name: "curl") { thread in
            guard Self.isReady, let handle = curl_multi_init() else { return }
            let multi = Multi(handle: handle)
            thread.wakes { curl_multi_wakeup(multi.handle) }
            do {
                // The transfers' handles have to be freed before the multi handle.
                let loop = CurlLoop(multi: handle, options: options)
                loop.run(thread)
            }
            thread.wakes(by: nil)
            curl_multi_cleanup(handle)
        } drop: { commands, error in
            for case .start(let transfer) in commands {
                let error = (error as? Thread.Refusal)?.error(redactedURL(transfer.request.url.absoluteString))
                transfer.end(.failure(error ?? CurlFailure.shutDown(transfer)))
                transfer.flush()
            }
        }
    }

    /// Posts a command to the thread; returns false if it has been stopped.
    func post(_ command: Command) -> Bool { thread.post([command]) }

    /// Lets the thread end; transfers in flight fail.
    func stop() { thread.stop() }

    /// Waits for the thread's end.
    func ended() async { await thread.ended() }
}
