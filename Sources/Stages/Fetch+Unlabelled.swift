public import PipelineHTTP

extension Fetch {
    /// Asks through `client` for at most `byteLimit` bytes, 64 MB by default.
    @available(*, deprecated, renamed: "init(responses:client:byteLimit:)")
    public init(_ responses: HTTPCache, _ client: any HTTPClient, byteLimit: Int = 64_000_000) {
        self.init(responses: responses, client: client, byteLimit: byteLimit)
    }
}
