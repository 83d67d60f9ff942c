import FoundationEssentials

extension Chain.Slot {
    func run(_ load: inout Load) async throws {
        let entry = load.recorder.begin(name, clock: load.clock)
        let advances = load.advances
        do {
            let outcome = try await stage.run(&load)
            if let violation = load.violation {
                throw LoadError(
                    .stageContract, subject: load.subject, "The stage broke its contract: \(violation). Mend the stage."
                )
            }
            let bytes = load.advances > advances ? load.content.product?.cost : nil
            load.recorder.end(entry, outcome, bytes: bytes, clock: load.clock)
        } catch {
            load.recorder.end(entry, .failed, bytes: nil, clock: load.clock)
            throw located(error, in: load)
        }
    }

    /// Says of an error at which stage it happened. The innermost stage wins; cancellation passes untouched.
    private func located(_ error: any Error, in load: Load) -> any Error {
        switch error {
        case is CancellationError: return error
        case var error as LoadError:
            if error.stage == nil { error.stage = name }
            return error
        default:
            var text = String(describing: error)
            // Many errors quote the URL that they are about, credentials and all.
            if case .url(let url) = load.request.source { text.replace(url.absoluteString, with: load.subject) }
            var wrapped = LoadError(.stageFailed, subject: load.subject, text, underlying: error)
            wrapped.stage = name
            return wrapped
        }
    }
}
