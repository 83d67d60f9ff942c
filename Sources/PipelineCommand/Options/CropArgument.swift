import ArgumentParser
import Stages

/// Which part of a picture is kept, in any case and with or without hyphens.
enum CropArgument: ExpressibleByArgument {
    case gravity(Gravity)
    case interest(Interest)

    /// The names that completions offer.
    static let names = Gravity.allCases.map(\.rawValue) + ["attention", "entropy"]

    init?(argument: String) {
        let folded = argument.lowercased().filter { $0 != "-" }
        let name = folded == "center" ? "centre" : folded
        if let gravity = Gravity.allCases.first(where: { $0.rawValue.lowercased() == name }) {
            self = .gravity(gravity)
        } else if let interest = Interest(rawValue: name) {
            self = .interest(interest)
        } else {
            return nil
        }
    }
}
