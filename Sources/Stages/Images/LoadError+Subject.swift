import Pipeline

extension LoadError {
    /// The same error, of an image: what decodes or encodes doesn't know whose bytes it has.
    func about(_ subject: String) -> LoadError {
        self.subject.isEmpty ? LoadError(code, subject: subject, message, underlying: underlying) : self
    }
}
