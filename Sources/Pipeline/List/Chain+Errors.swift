import Essentials

extension Chain.Slot {
    /// Adds the stage to an error. The innermost stage wins; cancellation passes unchanged.
    func located(_ error: any Error, in load: Load) -> any Error {
        switch error {
        case is CancellationError: return error
        case let error as LoadError:
            guard error.stage == nil else { return error }
            var error = error.about(load.subject)
            error.stage = name
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
