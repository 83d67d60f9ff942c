/// A value that one stage leaves on a load for a later one, found by its type.
///
/// `Fetch` leaves the response for `Store` this way; a stage of your own can leave whatever it likes.
public protocol LoadAttachment: Sendable {}

/// An attachment to a load with pixels that the engine removes before certain stages, such as memory that isn't to be
/// held while a stage waits for other loads.
package protocol PassingAttachment: LoadAttachment {
    /// Whether it stays attached while a stage runs.
    func mayStay(during stage: any Stage) -> Bool
}
