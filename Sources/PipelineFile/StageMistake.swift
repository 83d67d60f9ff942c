/// What is wrong with a stage as it was written; who read the text adds where it stands.
struct StageMistake: Error {
    let message: String
    /// Which of the values is meant; `nil` for the stage itself.
    let value: Int?

    init(_ message: String, at value: Int? = nil) {
        self.message = message
        self.value = value
    }
}
