import Pipeline

/// How a flight ended, for all who waited. A class, so that those who wait have no room for it before it is there.
final class Landing: Sendable {
    let load: Load
    let error: (any Error)?

    init(_ load: Load, error: (any Error)? = nil) {
        self.load = load
        self.error = error
    }
}
