import CCurl
import Essentials
import HTTPTypes
import Pipeline

/// A transfer while libcurl performs it; only libcurl's thread touches it.
final class CurlRun {
    let transfer: CurlTransfer
    let easy: CurlEasy
    let deadline: Duration
    private(set) var reader = CurlHeadReader()
    private(set) var isConnected = false
    /// Whether there is something that the reader hasn't been told.
    private(set) var hasNews = false
    /// Whether this is HTTP/2. libcurl 7.88 does not hold back the origin when one of several streams is paused: it
    /// buffers the bytes itself and delivers them slowly. So unread bytes are kept here, up to a body's limit.
    private var sharesConnection = false
    private var received = 0
    private var sent: curl_off_t = 0
    private var lastByte: Duration
    /// The sockets that were opened for this transfer and have not carried a request.
    private var sockets: [Int32] = []
    private var ends: CurlConnections.Ends?
    /// Whether libcurl gave up since it had chosen a kept connection that can't be trusted.
    private(set) var needsFreshConnection = false
    private var hasRestarted = false
    /// Why a callback made libcurl give up.
    private var failure: (any Error)?
    private var refusal: String?
    private let options: CurlClient.Options
    private let addresses: AddressPolicy
    private unowned let loop: CurlLoop

    init(_ transfer: CurlTransfer, easy: CurlEasy, options: CurlClient.Options, loop: CurlLoop) {
        self.transfer = transfer
        self.easy = easy
        self.options = options
        self.loop = loop
        addresses = transfer.request.addresses ?? options.addresses
        lastByte = loop.now
        deadline = transfer.deadline ?? lastByte + options.totalTimeout
    }

    // MARK: Callbacks

    func mayConnect(to address: Address?) -> Bool {
        // http uses only IPv4 and IPv6 addresses.
        guard let address else { return false }
        guard let refusal = addresses.refusal(of: address, host: connectedHost) else { return true }
        self.refusal = refusal
        return false
    }

    func mayAsk(_ address: Address?) -> Bool {
        isConnected = true
        lastByte = loop.now
        return mayConnect(to: address)
    }

    func opened(_ socket: Int32) { sockets.append(socket) }

    /// Whether the request may be sent on the connection that libcurl has chosen.
    func maySend(on ends: CurlConnections.Ends) -> Bool {
        self.ends = ends
        if loop.connections.note(ends, among: sockets) {
            // From now on it is a kept one.
            sockets = []
            return true
        }
        let mayReuse = loop.connections.mayReuse(ends, for: transfer.target) {
            let proxyHasTLS = options.proxy?.scheme == "https"
            guard transfer.target.scheme == "https" else { return proxyHasTLS && CurlTLS.mayHoldBytes(easy.handle) }
            // Of two layers of TLS only the inner one can be asked.
            return proxyHasTLS || CurlTLS.mayHoldBytes(easy.handle)
        }
        needsFreshConnection = !mayReuse && !hasRestarted
        return mayReuse
    }

    /// Notes that the connection has brought more than the response.
    func leavesBytes() { easy.forbidReuse() }

    /// Prepares for another attempt, on a fresh connection.
    func restart() {
        needsFreshConnection = false
        hasRestarted = true
        isConnected = false
        lastByte = loop.now
        easy.setFreshConnection()
    }

    /// The host whose address is checked: the proxy, if there is one.
    private var connectedHost: String { options.proxy?.host() ?? transfer.target.host }

    func takeHeader(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        lastByte = loop.now
        switch reader.read(line) {
        case .more: return true
        case .malformed(let what):
            failure = CurlFailure.malformed(transfer, what)
            return false
        case .complete: return endHead()
        }
    }

    private func endHead() -> Bool {
        let hasBody = transfer.request.method != .head && reader.status != 204 && reader.status != 304
        if hasBody, let length = reader.contentLength {
            guard length <= options.maximumBodyBytes else {
                failure = CurlFailure.tooManyBytes(transfer, limit: options.maximumBodyBytes, declared: length)
                return false
            }
            transfer.expect(length)
        }
        // Behind a body of a declared length libcurl closes the connection by itself.
        if !hasBody || reader.contentLength ?? 0 == 0 { easy.reportExcess(to: self) }
        if options.decompress && hasBody { reader.describeDecompressed() }
        if ccurl_get_long(easy.handle, CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) {
            sharesConnection = true
            loop.sharesConnection(transfer)
        } else if let ends {
            loop.connections.carriedHTTP1(ends, from: transfer.target)
        }
        transfer.put(
            CurlHead(
                status: reader.status, reason: reader.reason, headers: reader.headers, interim: reader.interim,
                deadline: deadline))
        noteNews()
        return true
    }

    func takeBody(_ bytes: UnsafeBufferPointer<UInt8>) -> CurlTransfer.Taking {
        lastByte = loop.now
        guard received + bytes.count <= options.maximumBodyBytes else {
            failure = CurlFailure.tooManyBytes(transfer, limit: options.maximumBodyBytes, declared: nil)
            return .unwanted
        }
        let taking = transfer.put(bytes, canWait: !sharesConnection)
        if taking == .taken {
            received += bytes.count
            noteNews()
        }
        return taking
    }

    private func noteNews() {
        if !hasNews { loop.flushLater(self) }
        hasNews = true
    }

    // MARK: The loop

    func flush() {
        hasNews = false
        transfer.flush()
    }

    /// Continues after a pause.
    /// - Returns: false if libcurl has lost the bytes that it held meanwhile, for lack of memory.
    func resume() -> Bool {
        lastByte = loop.now
        return curl_easy_pause(easy.handle, CURLPAUSE_CONT) != CURLE_OUT_OF_MEMORY
    }

    /// Returns the error of a transfer that is late, and otherwise when to check again.
    func lateness(at now: Duration) -> (error: LoadError?, next: Duration) {
        if now >= deadline { return (CurlFailure.overdue(transfer, after: options.totalTimeout), deadline) }
        // libcurl itself watches the time to connect; a reader that pauses is not a stall.
        guard isConnected, !transfer.isPaused else { return (nil, min(deadline, now + options.stallTimeout)) }
        let uploaded = ccurl_get_size(easy.handle, CURLINFO_SIZE_UPLOAD_T)
        if uploaded != sent {
            sent = uploaded
            lastByte = now
        }
        let stall = lastByte + options.stallTimeout
        return now >= stall
            ? (CurlFailure.stalled(transfer, after: options.stallTimeout), stall) : (nil, min(deadline, stall))
    }

    /// Ends the transfer and tells the reader how.
    func end(_ code: CURLcode) {
        if let failure {
            end(failure)
        } else if let refusal, code != CURLE_OK {
            end(LoadError(.refused, subject: redactedURL(transfer.request.url.absoluteString), refusal))
        } else if code != CURLE_OK {
            end(CurlFailure(code: code.rawValue, text: easy.errorText))
        } else if !reader.isComplete {
            end(CurlFailure.malformed(transfer, "its response has no end of the header"))
        } else {
            transfer.end(.success(()))
            transfer.flush()
        }
    }

    func end(_ failure: CurlFailure) {
        end(
            failure.error(
                transfer, received: received, connectTimeout: options.connectTimeout, isConnected: isConnected))
    }

    func end(_ error: any Error) {
        transfer.end(.failure(error))
        transfer.flush()
    }
}
