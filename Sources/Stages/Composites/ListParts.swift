import FoundationEssentials
import Pipeline

/// A list encoded as words, which are equal for two lists only if their stages do the same. Comparing them runs no code
/// of a stage, since that happens under a lock.
final class ListStructure: Hashable, Sendable {
    private let words: [UInt64]
    private let digest: Int

    fileprivate init(_ words: [UInt64]) {
        self.words = words
        digest = words.hashValue
    }

    static func == (one: ListStructure, other: ListStructure) -> Bool {
        one === other || (one.digest == other.digest && one.words == other.words)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// A list taken apart.
///
/// Stages are read as values: their types, and the values in their properties down to numbers and texts. Classes count by
/// identity, and closures by their function and captured context. A part that can't be read, such as a pointer or a value
/// of a type that hides its properties, is equal to nothing else.
///
/// Unchecked: `kept` is never read. Its objects are shared with the list, which is `Sendable`.
struct ListParts: @unchecked Sendable {
    private var words: [UInt64] = []
    /// Keeps every object whose address is among the words alive, so that no other object gets the address.
    private var kept: [Any] = []
    private(set) var structure = ListStructure([])

    init(of chain: Chain) {
        append(chain)
        structure = ListStructure(words)
        words = []
    }

    private init() {}

    private mutating func append(_ chain: Chain) {
        append(count: chain.stages.count)
        for stage in chain.stages { append(any: stage) }
    }

    private mutating func append(any value: Any) {
        let type = type(of: value)
        append(ObjectIdentifier(type))
        switch value {
        case let chain as Chain: append(chain)
        // Follows from the chain next to it.
        case is ListIdentity: break
        case let text as String: append(bytes: Array(text.utf8))
        case let bytes as [UInt8]: append(bytes: bytes)
        case let url as URL: append(bytes: Array(url.absoluteString.utf8))
        case let number as any PlainNumber: append(bytes: number.plainBytes)
        case let type as Any.Type: append(ObjectIdentifier(type))
        case let array as any OrderedParts: append(all: array.parts)
        case let set as any UnorderedParts: append(unordered: set.parts)
        case let object as AnyObject where type is AnyClass:
            append(ObjectIdentifier(object))
            kept.append(object)
        case is any CustomReflectable: appendUnique()
        default: append(parts: value)
        }
    }

    private mutating func append(parts value: Any) {
        let mirror = Mirror(reflecting: value)
        guard mirror.children.isEmpty else {
            append(count: mirror.children.count)
            for child in mirror.children {
                // The case of an enumeration.
                append(bytes: Array((child.label ?? "").utf8))
                append(any: child.value)
            }
            return
        }
        switch mirror.displayStyle {
        case .enum: append(bytes: Self.bytes(of: value))
        case nil:
            // A function: its code and its context, which is kept alive with it.
            append(bytes: Self.bytes(of: value))
            kept.append(value)
        default: if Self.size(of: value) > 0 { appendUnique() }
        }
    }

    private mutating func append(all values: [Any]) {
        append(count: values.count)
        for value in values { append(any: value) }
    }

    /// Equal sets may list their elements in different orders.
    private mutating func append(unordered values: [Any]) {
        append(count: values.count)
        let parts = values.map { value in
            var part = ListParts()
            part.append(any: value)
            return part
        }
        for part in parts.sorted(by: { $0.words.lexicographicallyPrecedes($1.words) }) {
            words += part.words
            kept += part.kept
        }
    }

    private mutating func append(count: Int) { words.append(UInt64(truncatingIfNeeded: count)) }

    private mutating func append(_ identity: ObjectIdentifier) { append(count: Int(bitPattern: identity)) }

    private mutating func append(bytes: [UInt8]) {
        append(count: bytes.count)
        for start in stride(from: 0, to: bytes.count, by: 8) {
            words.append(bytes[start..<min(start + 8, bytes.count)].reduce(0) { $0 << 8 | UInt64($1) })
        }
    }

    private mutating func appendUnique() {
        let unlike = Unlike()
        append(ObjectIdentifier(unlike))
        kept.append(unlike)
    }

    /// Stands for a part that can't be compared.
    private final class Unlike {}

    private static func bytes(of value: some Any) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    private static func size<Value>(of value: Value) -> Int { MemoryLayout<Value>.size }
}

/// A value that its bytes describe fully.
private protocol PlainNumber {}

extension PlainNumber {
    fileprivate var plainBytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}

extension Bool: PlainNumber {}
extension Int: PlainNumber {}
extension Int8: PlainNumber {}
extension Int16: PlainNumber {}
extension Int32: PlainNumber {}
extension Int64: PlainNumber {}
extension UInt: PlainNumber {}
extension UInt8: PlainNumber {}
extension UInt16: PlainNumber {}
extension UInt32: PlainNumber {}
extension UInt64: PlainNumber {}
extension Float: PlainNumber {}
extension Double: PlainNumber {}
extension Duration: PlainNumber {}

/// A collection whose order counts.
private protocol OrderedParts { var parts: [Any] { get } }

extension Array: OrderedParts {
    fileprivate var parts: [Any] { map { $0 } }
}
extension Optional: OrderedParts {
    fileprivate var parts: [Any] { map { [$0] } ?? [] }
}

/// A collection whose order doesn't count.
private protocol UnorderedParts { var parts: [Any] { get } }

extension Set: UnorderedParts {
    fileprivate var parts: [Any] { map { $0 } }
}
extension Dictionary: UnorderedParts {
    fileprivate var parts: [Any] { map { [$0.key, $0.value] as [Any] } }
}
