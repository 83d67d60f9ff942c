import Pipeline

/// How far the load of an image has come, for views that show it.
public enum LoadState {
    /// Nothing is loading and there is no image: before the start, after a cancellation, or after a miss under a policy
    /// that asks no origin.
    case empty
    /// The load is under way, with the share of the bytes that has arrived, 0 to 1, or `nil` if it isn't known.
    case inProgress(Double?)
    /// The load has failed. Call `retry` to start it again.
    case failure(any Error, retry: () -> Void)
    /// The image.
    case success(ImageResponse)
}
