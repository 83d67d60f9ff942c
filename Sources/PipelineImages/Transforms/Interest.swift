/// What makes one part of a picture more interesting than another, for a ``Crop``.
public enum Interest: String, Sendable, Hashable, CaseIterable {
    /// Detail of any kind: the sum of the entropies of small parts.
    case entropy
    /// What draws the eye: edges, strong colours and the colour of skin.
    case attention
}
