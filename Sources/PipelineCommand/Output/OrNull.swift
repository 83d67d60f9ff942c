import Pipeline

/// A field of a report that is written as `null` where there is nothing: a reader need not ask which are there.
@propertyWrapper
struct OrNull<Value: Encodable & Sendable>: Encodable, Sendable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

/// Why something failed, as reports in JSON say it.
struct FailureReport: Encodable {
    let code: String
    @OrNull var stage: String?
    let message: String

    init(_ error: LoadError) { (code, stage, message) = (error.code.rawValue, error.stage, error.text(namesStage: false)) }
}
