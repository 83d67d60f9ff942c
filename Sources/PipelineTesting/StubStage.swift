public import Pipeline

/// A stage made of a closure, for a test that needs one in the place of another.
///
/// ```swift
/// StubStage("Fetch", accepts: .empty, produces: .original) { load in
///     load.advance(to: .original(EncodedImage(bytes: jpeg)), from: .network)
///     return .done
/// }
/// ```
public typealias StubStage = ClosureStage
