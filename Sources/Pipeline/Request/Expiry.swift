/// Who decides how long a stored image is fresh. An expired one is revalidated, not thrown away.
public enum Expiry: Sendable, Hashable {
    /// The server, by HTTP's rules (RFC 9111 section 4.2); `otherwise` where it says nothing, zero to revalidate
    /// each time.
    case server(otherwise: Duration)
    /// A fixed lifetime from the moment of storing, whatever the server says. A reader may shorten what the writer
    /// fixed, never lengthen it.
    case after(Duration)
    /// Never: a stored image is served whatever its age, until it is removed.
    case never

    /// The server decides; 24 hours where it says nothing.
    public static let standard = Expiry.server(otherwise: .seconds(24 * 60 * 60))
}
