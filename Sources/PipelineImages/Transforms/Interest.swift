/// What makes one part of a picture matter more than another.
public enum Interest: String, Sendable, Hashable, CaseIterable {
    /// Where most is to be seen: the sum of the entropies of small parts. Detail counts, whatever it shows.
    case entropy
    /// What draws the eye: edges, strong colours and the colour of skin.
    case attention
}
