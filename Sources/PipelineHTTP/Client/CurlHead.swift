import HTTPTypes

/// The status line and fields of a response, as they arrived.
struct CurlHead: Sendable {
    var status: Int
    var reason: String
    var headers: HTTPFields
    var interim: [TransferResponse.Interim]
    /// When the whole request, redirects included, has to be over, by the machine's monotonic clock.
    var deadline: Duration
}
