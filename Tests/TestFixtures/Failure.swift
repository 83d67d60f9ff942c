package import Pipeline
package import Testing

/// The error of a load that has to fail.
package func failure<Value>(
    _ code: LoadError.Code, of body: () async throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
) async -> LoadError? {
    do {
        _ = try await body()
        Issue.record("This should have failed with \(code).", sourceLocation: sourceLocation)
    } catch let error as LoadError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("This should have failed with \(code), not \(error).", sourceLocation: sourceLocation)
    }
    return nil
}
