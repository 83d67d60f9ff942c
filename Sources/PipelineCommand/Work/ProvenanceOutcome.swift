import Pipeline
import Stages

/// What became of a source's manifests of provenance (C2PA) in its result.
enum ProvenanceOutcome: String, Sendable {
    /// They are in the result, which has the source's bytes.
    case kept
    /// They are in the result, and other bytes have changed, so that they aren't valid any more.
    case broken
    /// They aren't in the result.
    case removed

    /// Compares a stripped file with its source; `nil` if the source has no manifests.
    init?(of source: ImageMetadata, isKept: Bool, isUnchanged: Bool) {
        guard let provenance = source.provenance, provenance.byteCount > 0 else { return nil }
        self = !isKept ? .removed : isUnchanged ? .kept : .broken
    }
}
