/// A place in a list that an edit names by what happens there, rather than by the type of a stage.
///
/// ```swift
/// policy.pipeline(resources).inserting(RefuseHost(host: "tracker.example"), at: .beforeOrigin)
/// ```
///
/// A list in which this never happens needs no edit: one that doesn't ask the origin needs no guard before it.
public struct ListPlace: Sendable {
    /// After the stage that settles the load's keys, `ResolveIdentifier`. A list without one has no such place.
    public static let afterResolve = ListPlace("afterResolve", isOptional: false) { $0.identifies }

    /// Before each stage that may ask the origin; see ``Stage/asksOrigin``. It is inside the composites that retry,
    /// share or lease the request, so that loads that share one request pass the place once.
    ///
    /// Of several stages that edits put here, each stands there once: before the earlier ones that may themselves ask the
    /// origin, and behind those that say that they don't.
    public static let beforeOrigin = ListPlace("beforeOrigin", isBefore: true, isForGuards: true) { $0.asksOrigin }

    /// After each stage that makes pixels of the source's bytes, such as `Decode`.
    public static let afterDecode = ListPlace("afterDecode") {
        $0.accepts.contains(.original) && !$0.accepts.contains(.decoded) && $0.produces.contains(.decoded)
    }

    /// Before the first stage that stores the result, which may be inside a composite; see ``Stage/storesResult``. Each
    /// alternative of a composite such as `FirstOf` has a first one.
    public static let beforeStore = ListPlace("beforeStore", isBefore: true, isFirstOnly: true) { $0.storesResult }

    let name: String
    let isBefore: Bool
    /// Whether only the first of several such stages counts.
    let isFirstOnly: Bool
    /// Whether a stage that an edit has put here stands before whatever follows it, as a guard does: a later one before it
    /// isn't needed again behind it.
    let isForGuards: Bool
    /// Whether a list may do without the place.
    let isOptional: Bool
    let isHere: @Sendable (any Stage) -> Bool

    private init(
        _ name: String, isBefore: Bool = false, isFirstOnly: Bool = false, isForGuards: Bool = false,
        isOptional: Bool = true, isHere: @escaping @Sendable (any Stage) -> Bool
    ) {
        self.name = name
        self.isBefore = isBefore
        self.isFirstOnly = isFirstOnly
        self.isForGuards = isForGuards
        self.isOptional = isOptional
        // A composite does these things by the stages of its body.
        self.isHere = { !($0 is any CompositeStage) && isHere($0) }
    }
}
