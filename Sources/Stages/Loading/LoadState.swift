import Pipeline

/// How far the load of an image has come, for views that show it.
public enum LoadState {
    /// Nothing is loading, and nothing was found: before the start, and where the policy asks no origin.
    case empty
    /// The load is under way; the share of the bytes that has arrived, 0 to 1, or `nil` where it is not known.
    case inProgress(Double?)
    /// The load has failed; `retry` begins again.
    case failure(any Error, retry: () -> Void)
    /// The image.
    case success(ImageResponse)
}
