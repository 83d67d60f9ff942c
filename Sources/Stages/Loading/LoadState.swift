import Pipeline

/// How far the load of an image has come, for views that show it.
///
/// States are equal if a view would show the same: images by their pixels and where they came from (see
/// ``ImageResponse``), failures by what the error says.
public enum LoadState: Sendable, Equatable {
    /// Nothing is loading and there is no image: before the start, after a cancellation, or after a miss under a policy
    /// that asks no origin.
    case empty
    /// The load is under way, with the share of the bytes that has arrived, 0 to 1, or `nil` if it isn't known.
    case inProgress(Double?)
    /// The load has failed. Call `retry()` to start it again.
    case failure(LoadError, retry: Retry)
    /// The image.
    case success(ImageResponse)

    /// Starts the failed load of an ``ImageState`` again.
    public struct Retry: Sendable {
        private let target: RetryTarget

        init(_ state: ImageState, isolation: isolated any Actor) {
            target = RetryTarget(state, on: isolation)
        }

        /// Starts the load again. On the actor that the ``ImageState`` belongs to, its state has changed when this returns.
        /// - Parameter isolation: The caller's actor. On another one, the load starts a little later.
        public func callAsFunction(isolation: isolated any Actor = #isolation) {
            guard isolation === target.actor else {
                Task { [target] in await target.start(isolation: target.actor) }
                return
            }
            target.start()
        }
    }
}

extension LoadState.Retry: Equatable {
    /// Whether both belong to the same image.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.target.image == rhs.target.image }
}

/// The image that a ``LoadState/Retry`` starts again.
private final class RetryTarget: Sendable {
    // Read only in `start`, which runs on `actor`: the one that the state belongs to.
    nonisolated(unsafe) private weak let state: ImageState?
    let image: ObjectIdentifier
    let actor: any Actor

    init(_ state: ImageState, on actor: isolated any Actor) {
        self.state = state
        self.actor = actor
        image = ObjectIdentifier(state)
    }

    func start(isolation: isolated any Actor = #isolation) { state?.start() }
}
