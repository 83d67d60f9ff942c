/// Is told what happens to every load of an ``ImageLoader``: for logs, metrics and traces.
public protocol LoadObserver: Sendable {
    /// Takes note. It is called on whatever thread the load is on, in order for each load, and must not block.
    func observe(_ observation: LoadObservation)
}
