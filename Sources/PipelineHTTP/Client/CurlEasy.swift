import CCurl
import Essentials
import HTTPTypes
import Pipeline

/// One libcurl handle, reused for transfer after transfer; only libcurl's thread touches it.
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    private let text: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var status = CURLE_OK

    init?() {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        text = .allocate(capacity: Int(CURL_ERROR_SIZE))
        text.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(fields)
        text.deallocate()
    }

    /// libcurl's text about the last failure.
    var errorText: String { String(cString: text) }

    /// Sets all options for a transfer whose callbacks get `run`.
    /// - Throws: ``CurlFailure`` if libcurl can't do what an option asks for.
    func prepare(_ request: TransferRequest, _ options: CurlClient.Options, for run: CurlRun) throws(CurlFailure) {
        curl_easy_reset(handle)
        status = CURLE_OK
        text[0] = 0
        setSafety()
        setConnection(request, options, run)
        setTLS(options)
        setRequest(request, options)
        setCallbacks(Unmanaged.passUnretained(run).toOpaque())
        guard status == CURLE_OK else {
            throw CurlFailure(code: status.rawValue, text: String(cString: curl_easy_strerror(status)))
        }
    }

    /// Makes the transfer open a connection of its own.
    func setFreshConnection() { set(CURLOPT_FRESH_CONNECT, 1) }

    /// Makes libcurl tell of bytes behind the response's end. It then formats texts for all that it does, which costs
    /// microseconds.
    func reportExcess(to run: CurlRun) {
        check(ccurl_set_debug_function(handle, CurlCallbacks.information))
        check(ccurl_set_pointer(handle, CURLOPT_DEBUGDATA, Unmanaged.passUnretained(run).toOpaque()))
        set(CURLOPT_VERBOSE, 1)
    }

    /// Closes the connection after the transfer.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, 1) }

    private func setSafety() {
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Removing a transfer must not wait for a name server that does not respond.
        set(CURLOPT_QUICK_EXIT, 1)
        check(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, text))
    }

    private func setConnection(_ request: TransferRequest, _ options: CurlClient.Options, _ run: CurlRun) {
        set(CURLOPT_URL, request.url.absoluteString)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_HTTP_VERSION, Int(request.needsBackPressure ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS))
        // A second request to a host that is being connected to waits to see whether it can share the connection. Over
        // TLS the handshake tells; without TLS only the first response does.
        set(CURLOPT_PIPEWAIT, run.transfer.target.scheme == "https" && !request.needsBackPressure ? 1 : 0)
        set(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.wholeMilliseconds)
        set(CURLOPT_BUFFERSIZE, 65_536)
        // An empty text keeps libcurl from reading the environment; `NULL` doesn't.
        set(CURLOPT_PROXY, options.proxy?.absoluteString ?? "")
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func setTLS(_ options: CurlClient.Options) {
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = options.caFile { set(CURLOPT_CAINFO, file) }
        if options.trustAnyCertificate {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let client = options.clientCertificate {
            set(CURLOPT_SSLCERT, client.certificateFile)
            if let file = client.keyFile { set(CURLOPT_SSLKEY, file) }
            if let password = client.password { set(CURLOPT_KEYPASSWD, password) }
        }
    }

    private func setRequest(_ request: TransferRequest, _ options: CurlClient.Options) {
        let method = request.method
        // A method that usually has content sends `Content-Length: 0` without any (RFC 9110 section 8.6).
        let content = request.body ?? ([.post, .put, .patch].contains(method) ? [] : nil)
        if method == .head {
            set(CURLOPT_NOBODY, 1)
        } else if let content {
            set(CURLOPT_POST, 1)
            check(ccurl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(content.count)))
            content.withUnsafeBytes {
                check(ccurl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeRawPointer(text)))
            }
        }
        if method != .get && method != .head || content != nil { set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
        // If a reused connection dies before a response, libcurl sends the request again, whatever its method. On a new
        // connection it doesn't (RFC 9110 section 9.2.2).
        let idempotent: [HTTPRequest.Method] = [.get, .head, .put, .delete, .options, .trace]
        set(CURLOPT_FRESH_CONNECT, idempotent.contains(method) ? 0 : 1)
        if options.decompress { set(CURLOPT_ACCEPT_ENCODING, "") }

        curl_slist_free_all(fields)
        fields = nil
        for field in request.headers where field.name != .contentLength {
            var line = Array(field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { value in
                // libcurl reads `Name:` as "leave this field out" and `Name;` as a field without a value.
                line += value.isEmpty ? Array(";".utf8) : Array(": ".utf8) + Array(value)
            }
            add(line)
        }
        // Leave out the fields that libcurl would add by itself.
        for (name, line) in Self.unwanted where !request.headers.contains(name) { add(line) }
        if !request.headers.contains(.userAgent), !options.userAgent.isEmpty {
            set(CURLOPT_USERAGENT, options.userAgent)
        }
        check(ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields))
    }

    private func setCallbacks(_ run: UnsafeMutableRawPointer) {
        check(ccurl_set_data_function(handle, CURLOPT_HEADERFUNCTION, CurlCallbacks.header))
        check(ccurl_set_pointer(handle, CURLOPT_HEADERDATA, run))
        check(ccurl_set_data_function(handle, CURLOPT_WRITEFUNCTION, CurlCallbacks.body))
        check(ccurl_set_pointer(handle, CURLOPT_WRITEDATA, run))
        check(ccurl_set_socket_function(handle, CurlCallbacks.socket))
        check(ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, run))
        check(ccurl_set_request_function(handle, CurlCallbacks.request))
        check(ccurl_set_pointer(handle, CURLOPT_PREREQDATA, run))
    }

    private static let unwanted: [(HTTPField.Name, line: [UInt8])] = [.accept, .expect, .contentType].map {
        ($0, Array("\($0.rawName):".utf8))
    }

    private func add(_ line: [UInt8]) {
        let list = (line + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { curl_slist_append(fields, $0.baseAddress) }
        }
        if let list { fields = list } else { check(CURLE_OUT_OF_MEMORY) }
    }

    private func set(_ option: CURLoption, _ value: Int) { check(ccurl_set_long(handle, option, value)) }
    private func set(_ option: CURLoption, _ value: String) { check(ccurl_set_string(handle, option, value)) }
    private func check(_ code: CURLcode) { if code != CURLE_OK { status = code } }
}

extension Duration {
    /// Milliseconds, at least one and at most as many as libcurl accepts.
    var wholeMilliseconds: Int { Int(min(max(1, attoseconds / 1_000_000_000_000_000), Int128(Int32.max))) }
}
