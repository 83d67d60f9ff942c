import HTTPTypes
import RawStructuredFieldValues

extension CacheControl {
    /// The directives that a cache obeys in a response: those of `Cache-Control`; in a shared cache those of
    /// `CDN-Cache-Control` instead (RFC 9213), if that is a dictionary with members (RFC 9651 section 3.2).
    init(response fields: HTTPFields, isShared: Bool) {
        if isShared, let directives = Self.targeted(fields) {
            self.init(targeted: directives)
        } else {
            self.init(fields)
        }
    }

    private static func targeted(_ fields: HTTPFields) -> [Directive]? {
        let lines = fields.filter { $0.name.canonicalName == "cdn-cache-control" }.map(\.value)
        guard !lines.isEmpty else { return nil }
        var parser = StructuredFieldValueParser(Array(lines.joined(separator: ",").utf8))
        guard let members = try? parser.parseDictionaryFieldValue(), members.count > 0 else { return nil }
        return members.compactMap { name, member in
            argument(of: member, name).map { Directive(name: name, argument: $0) }
        }
    }

    /// The argument of a member; `nil` for `?0`, which takes the directive back.
    private static func argument(of member: ItemOrInnerList, _ name: String) -> Argument? {
        guard case .item(let item) = member else { return .invalid }
        return switch item.rfc9651BareItem {
        case .bool(let isGiven): isGiven ? .some(.none) : nil
        case .integer(let number): .value(String(number))
        // Section 2.1: a lifetime is an integer.
        case .string(let text), .token(let text): lifetimes.contains(name) ? .invalid : .value(text)
        default: .invalid
        }
    }

    private static let lifetimes: Set<String> = ["max-age", "s-maxage", "stale-if-error", "stale-while-revalidate"]
}
