/// Receives the events of every load of an ``ImageLoader``, for logs, metrics and traces.
public protocol LoadObserver: Sendable {
    /// Receives an event. It is called on the load's thread, in order for each load, and must not block.
    func observe(_ observation: LoadObservation)
}
