/// Where a response came from.
public enum LoadSource: String, Sendable, Hashable {
    /// The memory cache.
    case memory
    /// A stored response, fresh or accepted as it is; or a stored result of a file.
    case disk
    /// A response that another machine has stored in a shared tier (`PipelineShared`).
    case shared
    /// The origin.
    case network
    /// A stored response that the origin confirmed with 304 (RFC 9110 section 15.4.5).
    case revalidated
    /// A file on this machine.
    case file
    /// The request itself: bytes in memory or a `data:` URL (RFC 2397).
    case inline
}
