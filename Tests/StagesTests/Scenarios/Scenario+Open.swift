extension Scenario {
    /// Stories that don't come out yet as they are told, by name: their fixes are under way.
    static let open: Set<String> = []
}
