import CCurl
import LibC
import Pipeline

/// The loop of libcurl's thread, which starts, performs and ends transfers. Only that thread touches it.
final class CurlLoop {
    private let multi: UnsafeMutableRawPointer
    private let options: CurlClient.Options
    private let clock = SystemClock()
    /// The machine's monotonic time when this turn of the loop began. What a turn reads counts as having arrived then.
    private(set) var now: Duration
    private var queue: CurlQueue
    private var runs: [UnsafeMutableRawPointer: CurlRun] = [:]
    private var runOfTransfer: [ObjectIdentifier: CurlRun] = [:]
    /// Handles of plain HTTP. One that spoke HTTP/2 is never used again: libcurl 7.88 then confuses its streams.
    private var idle: [CurlEasy] = []
    private var news: [CurlRun] = []
    var connections = CurlConnections()
    /// When to check next whether transfers are late.
    private var nextCheck: Duration?

    init(multi: UnsafeMutableRawPointer, options: CurlClient.Options) {
        self.multi = multi
        self.options = options
        now = clock.uptime
        queue = CurlQueue(maximumPerHost: options.maximumConnectionsPerHost, maximum: options.maximumConnections)
        _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, options.maximumConnections))
    }

    /// Works until the thread is stopped.
    func run(_ thread: LoopThread<CurlThread.Command>) {
        while let commands = thread.take() {
            now = clock.uptime
            for command in commands {
                switch command {
                // Its cancellation may have been posted earlier.
                case .start(let transfer): if !transfer.isCancelled { queue.append(transfer) }
                case .resume(let transfer): resume(transfer)
                case .cancel(let transfer): cancel(transfer)
                case .prioritize(let transfer, let priority): queue.prioritize(transfer, priority)
                }
            }
            startWaiting()
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            endEnded()
            for run in news { run.flush() }
            news.removeAll(keepingCapacity: true)
            endLate()
            // A connection that has just become free goes to the next waiter.
            startWaiting()
            curl_multi_poll(multi, nil, 0, patience(), nil)
        }
        stop()
    }

    func enqueue(_ transfer: CurlTransfer) {
        queue.append(transfer)
        startWaiting()
    }

    func flushLater(_ run: CurlRun) { news.append(run) }

    func sharesConnection(_ transfer: CurlTransfer) { queue.sharesConnection(transfer) }

    private func startWaiting() {
        while let transfer = queue.next() {
            guard let easy = (transfer.target.scheme == "https" ? nil : idle.popLast()) ?? CurlEasy() else {
                queue.release(transfer)
                transfer.end(.failure(CurlFailure.error(.unreachable, transfer, "can't be asked: no memory is left.")))
                transfer.flush()
                continue
            }
            let run = CurlRun(transfer, easy: easy, options: options, loop: self)
            do {
                try easy.prepare(transfer.request, options, for: run)
            } catch {
                queue.release(transfer)
                run.end(error)
                continue
            }
            runs[easy.handle] = run
            runOfTransfer[ObjectIdentifier(transfer)] = run
            add(run)
        }
    }

    private func add(_ run: CurlRun) {
        let status = curl_multi_add_handle(multi, run.easy.handle)
        guard status == CURLM_OK else {
            run.end(
                CurlFailure(code: CURLE_FAILED_INIT.rawValue, text: String(cString: curl_multi_strerror(status))))
            return remove(run)
        }
        check(run)
    }

    private func endEnded() {
        var code = CURLE_OK
        while let handle = ccurl_next_ended(multi, &code) {
            guard let run = runs[handle] else { continue }
            if code == CURLE_ABORTED_BY_CALLBACK, run.needsFreshConnection {
                restart(run)
                continue
            }
            // The failure's text is in the handle, so end the run before the handle is reused.
            run.end(code)
            remove(run)
        }
    }

    /// Repeats a transfer whose request has not been sent.
    private func restart(_ run: CurlRun) {
        curl_multi_remove_handle(multi, run.easy.handle)
        run.restart()
        add(run)
    }

    private func endLate() {
        guard let check = nextCheck, now >= check else { return }
        nextCheck = nil
        for run in Array(runs.values) { self.check(run) }
    }

    private func check(_ run: CurlRun) {
        let (error, next) = run.lateness(at: now)
        if let error {
            run.end(error)
            remove(run)
        } else {
            nextCheck = min(nextCheck ?? next, next)
        }
    }

    private func resume(_ transfer: CurlTransfer) {
        guard let run = runOfTransfer[ObjectIdentifier(transfer)], !run.resume() else { return }
        run.end(CURLE_OUT_OF_MEMORY)
        remove(run)
    }

    private func cancel(_ transfer: CurlTransfer) {
        if let run = runOfTransfer[ObjectIdentifier(transfer)] {
            remove(run)
        } else {
            _ = queue.remove(transfer)
        }
    }

    /// Removes a transfer from libcurl; if it has not ended there, its connection is closed.
    private func remove(_ run: CurlRun) {
        curl_multi_remove_handle(multi, run.easy.handle)
        runs[run.easy.handle] = nil
        runOfTransfer[ObjectIdentifier(run.transfer)] = nil
        queue.release(run.transfer)
        if run.transfer.target.scheme != "https" { idle.append(run.easy) }
    }

    private func stop() {
        for transfer in queue.removeAll() {
            transfer.end(.failure(CurlFailure.shutDown(transfer)))
            transfer.flush()
        }
        for run in Array(runs.values) {
            run.end(CurlFailure.shutDown(run.transfer))
            remove(run)
        }
    }

    /// How many milliseconds this thread may wait for libcurl.
    private func patience() -> Int32 {
        guard let nextCheck else { return 3_600_000 }
        let left = nextCheck - clock.uptime
        return left <= .zero ? 0 : Int32(clamping: left.wholeMilliseconds + 1)
    }
}
