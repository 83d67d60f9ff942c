/// A mistake in a stage as it was written. The code that reads the text adds its location.
package struct StageMistake: Error {
    package let message: String
    /// The index of the wrong value; `nil` for the stage itself.
    package let value: Int?

    package init(_ message: String, at value: Int? = nil) {
        self.message = message
        self.value = value
    }
}
