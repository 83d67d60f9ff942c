import Pipeline

/// A field of a report that is written as `null` if it is missing, so that readers needn't check which fields are
/// there.
@propertyWrapper
struct OrNull<Value: Encodable & Sendable>: Encodable, Sendable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

/// An error in reports as JSON.
struct FailureReport: Encodable {
    let code: String
    @OrNull var stage: String?
    let message: String

    init(_ error: LoadError) {
        (code, stage, message) = (error.code.rawValue, error.stage, error.text(namesStage: false))
    }
}
