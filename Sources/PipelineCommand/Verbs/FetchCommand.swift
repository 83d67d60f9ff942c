import ArgumentParser
import Essentials
import HTTPTypes
import Pipeline
import Stages

#if Fleet
import PipelineShared
#endif

/// Fetches any URL through the HTTP cache, and explains what the cache did.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "fetch", "Fetch any URL through the HTTP cache.",
        """
        With --stdio it serves another program as a coprocess, with a line of JSON for each request and each \
        response. Input (→) and output (←):

          → {"id":7,"url":"http://…","method":"GET",
             "headers":[["Name","value"]],"cache":"default",
             "redirect":"manual","body64":"…"}
          → {"id":7,"cancel":true}
          ← {"ready":true,"name":"\(Program.name) 0.1"}
          ← {"id":7,"status":200,"statusText":"OK","headers":[["Age","3"]],
             "body64":"…","fromCache":"hit","interim":[[103,[["link","…"]]]]}
          ← {"id":7,"error":"why"}

        Each is one line. Any number may be in flight; responses come in any order. cache is default, no-cache, \
        no-store, reload, force-cache or only-if-cached; redirect is follow or manual; fromCache is hit, stale, \
        revalidated, miss or none. The code points of a header's value are its bytes. After the end of input it \
        ends once all responses are written.

        With --shared the responses are in Redis instead of a folder, and the rules are those of a shared cache \
        (RFC 9111): nothing private is stored, Set-Cookie only where the response is public, and s-maxage counts. \
        Processes that want the same at the same time send one request.

        Examples:
          \(Program.name) fetch https://example.com/ --explain
          \(Program.name) fetch https://example.com/feed.xml -o feed.xml
          \(Program.name) fetch https://example.com/photo -H 'Accept: image/webp' --json
          \(Program.name) fetch --stdio --public-only
        """)

    @Argument(help: ArgumentHelp("http and https URLs.", valueName: "url")) var urls: [String] = []

    @Option(
        name: .letter("o"), help: ArgumentHelp("Write the content here; - is standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(name: .letter("H"), help: ArgumentHelp("Send this header field.", valueName: "name: value"))
    var header: [String] = []

    @Flag(help: "Fail on a status of 400 or above. Nothing is written then.") var fail = false

    @OptionGroup(title: "Output") var overwrite: OverwriteOptions

    @Flag(help: "Explain what the cache did. Shows the stored entry, its freshness, what was sent and what came back.")
    var explain = false

    @OptionGroup(title: "Messages") var reporting: ReportOptions

    @Flag(help: "Serve another program as a coprocess.") var stdio = false

    @OptionGroup(title: "Sources and cache") var addresses: AddressOptions

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions

    @OptionGroup(title: "Sources and cache") var shared: SharedOptions

    func validate() throws {
        if stdio {
            guard urls.isEmpty, output == nil, header.isEmpty, !explain, !fail, !reporting.json else {
                throw ValidationError("--stdio takes its requests from standard input; leave the others out.")
            }
            return
        }
        if urls.isEmpty { throw ValidationError("Give a URL, or --stdio.") }
        if output != nil, urls.count > 1 { throw ValidationError("-o takes the content of one URL.") }
        try reporting.check(writesResult: output == "-")
        if overwrite.newer { throw ValidationError("--newer compares files; fetch takes -y or -n.") }
        _ = try fields()
    }

    func run() async throws {
        var options = CurlClient.Options(addresses: addresses.policy)
        // The other program decides how many requests run concurrently.
        if stdio { (options.maximumConnections, options.maximumConnectionsPerHost) = (256, 256) }
        // The program that it serves is the only user, so requests that differ in a counter are the same.
        let users = stdio ? HTTPCache.Users.one : .several
        let fleet = shared.fleet(users: stdio ? .everyone : .several)
        let responses = fleet?.cache ?? cache.responses(users: users)
        let client = CachingClient(cache: responses, client: S3URLs(CurlClient(options)))
        defer { fleet?.close() }
        if stdio {
            do { try await StdioSession(client).serve(InputLines.read()) } catch {
                await responses.close()
                throw error
            }
            return await responses.close()
        }
        var failures = 0
        for url in urls where try await !fetch(url, client) { failures += 1 }
        await withTaskCancellationHandler {
            await client.drain()
        } onCancel: {
            client.cancelBackground()
        }
        await responses.close()
        if failures > 0 { throw ExitCode(1) }
    }

    private func fetch(_ text: String, _ client: CachingClient) async throws -> Bool {
        do {
            guard case .url(let url) = try ImageSource(parsing: text) else {
                throw LoadError(.unsupportedScheme, subject: redactedURL(text), "fetch takes http and https URLs.")
            }
            if try isLeft() { return true }
            let response = try await client.send(CachingRequest(url: url, headers: try fields()))
            if fail, response.status >= 400 { throw response.failure(of: redactedURL(text)) }
            try await write(response.body)
            show(url, response)
            return true
        } catch let error as LoadError {
            Report(fetch: text, error: error).show(reporting)
            return false
        }
    }

    /// Whether an existing file is kept, so that there is nothing to fetch.
    /// - Throws: `LoadError` with `outputExists` if no option says what to do with it.
    private func isLeft() throws -> Bool {
        guard let output, output != "-", FileFacts(output)?.kind == .regular else { return false }
        if overwrite.rule == .refuse { throw OutputFile.exists(output) }
        return overwrite.rule == .skip
    }

    private func write(_ body: [UInt8]) async throws {
        guard let output else { return }
        try await BlockingThreads.files.run { cancellation in
            if output == "-" {
                // Control characters of binary content would change the terminal's state.
                if StandardOutput.isTerminal, body.prefix(4096).contains(0) {
                    throw LoadError(
                        .unwritable, subject: "standard output",
                        "The content is not text, and standard output is a terminal; give -o FILE.")
                }
                try StandardOutput.write(image: body)
            } else {
                let existing = overwrite.rule == .overwrite ? OutputFile.Existing.replaced : .kept
                _ = try OutputFile(output).write(body, existing: existing, overwrite.rule, cancellation)
            }
        }
    }

    private func show(_ url: URL, _ response: CachingResponse) {
        if !reporting.json, explain || reporting.verbose {
            let text = "\(FetchExplanation(response))\n"
            if output == "-" { StandardError.write(text) } else { StandardOutput.write(bytes: Array(text.utf8)) }
            return
        }
        let line =
            "\(redactedURL(url.absoluteString)): \(response.status) \(response.reason), "
            + "\(response.body.count) bytes, \(response.use.rawValue)"
        Report(fetch: url.absoluteString, response, output == "-" ? nil : line).show(reporting)
    }

    private func fields() throws -> HTTPFields {
        var fields = HTTPFields()
        for text in header {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let latin1 =
                parts.count == 2 ? String(String.UnicodeScalarView(parts[1].utf8.map { Unicode.Scalar($0) })) : ""
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])),
                let field = HTTPField(name: name, latin1: String(latin1.drop { $0 == " " || $0 == "\t" }))
            else { throw ValidationError("-H takes a field such as 'Accept: image/webp', on one line.") }
            fields.append(field)
        }
        return fields
    }
}

extension CachingResponse {
    /// The error for a status that is none of success.
    func failure(of subject: String) -> LoadError {
        LoadError(
            .httpStatus, subject: subject, "The origin answered with \(status) \(reason).", httpStatus: status)
    }
}
