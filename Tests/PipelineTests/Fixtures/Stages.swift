import Pipeline

// Stages of types of their own, for tests that edit a list by type.

struct Find: Stage {
    let accepts: Phases = .empty
    let produces: Phases = .original

    func run(_ load: inout Load) async throws -> Outcome {
        load.advance(to: .original(), from: .network)
        return .done
    }
}

struct Look: Stage {
    let accepts: Phases = .empty
    let produces: Phases = [.empty, .ready]

    func run(_ load: inout Load) async throws -> Outcome { .miss }
}

struct Paint: Stage {
    let accepts: Phases = .original
    let produces: Phases = .decoded

    func run(_ load: inout Load) async throws -> Outcome {
        load.advance(to: .decoded())
        return .done
    }
}

struct Blur: Transform {
    var radius = 1
    var signature: String? { "blur(\(radius))" }
    var parameters: String { "\(radius)" }

    func apply(_ image: DecodedImage) async throws -> DecodedImage { image }
}

struct Keep: Stage {
    let accepts: Phases = [.decoded, .encoded]
    let produces: Phases = .ready

    func run(_ load: inout Load) async throws -> Outcome {
        if let product = load.content.product { load.advance(to: .ready(product)) }
        return .done
    }
}
