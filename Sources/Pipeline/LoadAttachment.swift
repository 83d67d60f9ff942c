/// A value that one stage leaves on a load for a later one, found by its type.
///
/// `Fetch` leaves the response for `Store` this way; a stage of your own can leave whatever it likes.
public protocol LoadAttachment: Sendable {}
