/// A setting of a server that can't be used.
public struct ServerConfigurationError: Error, Sendable, CustomStringConvertible {
    /// What is wrong with it, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
