public import Pipeline

/// A stage made from a closure, to replace another one in a test.
///
/// ```swift
/// StubStage("Fetch", accepts: .empty, produces: .original) { load in
///     load.advance(to: .original(EncodedImage(bytes: jpeg)), from: .network)
///     return .done
/// }
/// ```
public typealias StubStage = ClosureStage
