public import Pipeline
public import PipelineHTTP

/// Where a ``Fleet`` keeps responses and results that are too large for Redis: in a bucket of an S3-compatible store.
///
/// ```swift
/// let blobs = S3Blobs(try S3Bucket("s3://images/fleet"))
/// let fleet = Fleet(try RedisAddress("redis://cache.internal"), blobs: blobs)
/// ```
///
/// Redis keeps the fields of a response, and the digest by which the object is named. Objects are immutable and are sent
/// with `If-None-Match: *`, so equal bytes are stored once. A missing object is a miss. So is one whose bytes don't have
/// its digest, which is deleted.
///
/// Other objects are deleted by ``Fleet/removeAllObjects()`` alone: give the bucket a lifecycle rule that ends them some
/// days after `FleetLimits.longestTime`.
public struct S3Blobs: Sendable {
    /// The bucket.
    var bucket: S3Bucket
    /// The most bytes of a response or a result; 64,000,000 by default. Larger ones aren't shared.
    public var bytes: Int
    /// How long reading or writing an object may take; 5 seconds by default. A load then continues without it.
    var deadline: Duration

    let clock: any LoadClock
    let requests: SignedRequests

    /// Describes a bucket with the credentials of this machine: see ``S3CredentialSource``.
    /// - Parameters:
    ///   - bucket: The bucket.
    ///   - bytes: The most bytes of an object.
    ///   - deadline: How long reading or writing one may take.
    ///   - client: What sends the requests. It need not allow the store's address.
    ///   - clock: The clock by which requests are signed.
    ///   - credentials: Returns the keys, for each request; `nil`, the default, for those of this machine. After a
    ///     refusal it is called again, and the request is sent again if the keys have changed.
    public init(
        _ bucket: S3Bucket, bytes: Int = 64_000_000, deadline: Duration = .seconds(5),
        client: any TransferClient = CurlClient(), clock: any LoadClock = SystemClock(),
        credentials: (@Sendable () async throws -> S3Credentials)? = nil
    ) {
        (self.bucket, self.bytes, self.deadline, self.clock) = (bucket, bytes, deadline, clock)
        let region = bucket.endpoint.region
        requests =
            if let credentials {
                SignedRequests(client, region: region, clock: clock, credentials: credentials)
            } else {
                SignedRequests(
                    client, region: region, clock: clock, source: S3CredentialSource(client: client, clock: clock))
            }
    }

    /// Describes a bucket with the credentials of a source.
    /// - Parameters:
    ///   - bucket: The bucket.
    ///   - bytes: The most bytes of an object.
    ///   - deadline: How long reading or writing one may take.
    ///   - client: What sends the requests. It need not allow the store's address.
    ///   - clock: The clock by which requests are signed.
    ///   - source: Where the keys are.
    public init(
        _ bucket: S3Bucket, bytes: Int = 64_000_000, deadline: Duration = .seconds(5),
        client: any TransferClient = CurlClient(), clock: any LoadClock = SystemClock(),
        credentials source: S3CredentialSource
    ) {
        (self.bucket, self.bytes, self.deadline, self.clock) = (bucket, bytes, deadline, clock)
        requests = SignedRequests(client, region: bucket.endpoint.region, clock: clock, source: source)
    }
}
