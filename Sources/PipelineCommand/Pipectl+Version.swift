extension Pipectl {
    /// The program's version.
    static let version = "0.1.0"
}
