import Pipeline

/// What the loads of one flight have in common.
enum FlightKey: Hashable, Sendable {
    case variant(VariantKey, list: ListIdentity, Expiry, staleIfError: Duration?)
    case source(SourceKey, headers: SIMD2<UInt64>)

    var isFetch: Bool { if case .source = self { true } else { false } }

    var source: SourceKey {
        switch self {
        case .variant(let key, _, _, _): key.source
        case .source(let key, _): key
        }
    }
}
