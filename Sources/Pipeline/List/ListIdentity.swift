/// What a list is compared by: copies of a list are the same, and so are lists of equal stages over the same objects.
///
/// Comparing runs no code of a stage, since that happens under a lock.
///
/// Unchecked, and safe: `objects` is never read. They come from ``StageIdentity``, or are slots.
package final class ListIdentity: Hashable, @unchecked Sendable {
    private enum Part: Hashable {
        case count(Int)
        case text(String)
        case object(ObjectIdentifier)
    }

    private let parts: [Part]
    private let digest: Int
    /// Kept alive, so that no other object gets the address of one.
    private let objects: [AnyObject]

    package init(_ chain: Chain) {
        var (parts, objects) = ([Part](), [AnyObject]())
        Self.append(chain, &parts, &objects)
        (self.parts, self.objects) = (parts, objects)
        digest = parts.hashValue
    }

    private static func append(_ chain: Chain, _ parts: inout [Part], _ objects: inout [AnyObject]) {
        parts.append(.count(chain.slots.count))
        for slot in chain.slots {
            parts += [.object(slot.type), .count(slot.isGuard ? 1 : 0)]
            // A stage that doesn't say what it does is like those of the list's copies alone, which share its slot.
            let identity = slot.stage.identity
            let kept = identity?.objects ?? [slot]
            parts += [.count(identity?.texts.count ?? -1), .count(kept.count)]
            parts += identity?.texts.map(Part.text) ?? []
            parts += kept.map { .object(ObjectIdentifier($0)) }
            objects += kept
            if let composite = slot.stage as? any CompositeStage { append(composite.body, &parts, &objects) }
        }
    }

    package static func == (one: ListIdentity, other: ListIdentity) -> Bool {
        one === other || (one.digest == other.digest && one.parts == other.parts)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
