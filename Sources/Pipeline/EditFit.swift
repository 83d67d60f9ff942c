/// In which lists an edit must find its place.
public enum EditFit: Sendable {
    /// In every list. A list without the place is an error, so that a guard is never dropped silently.
    case required
    /// In the lists that have the place. The others stay as they are.
    case present
}
