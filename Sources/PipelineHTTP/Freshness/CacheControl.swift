package import HTTPTypes
import Pipeline

/// The directives of a message's `Cache-Control` lines (RFC 9111 section 5.2), parsed by their exact grammar.
///
/// Names are compared without case; unknown directives are kept and ignored. If one is given more than once, its first
/// argument counts (section 4.2.1). A directive whose argument breaks the grammar is kept with an invalid argument: an
/// unreadable lifetime is not the same as none.
package struct CacheControl: Sendable, Hashable {
    enum Argument: Sendable, Hashable {
        case none
        case value(String)
        case invalid
    }

    struct Directive: Sendable, Hashable {
        /// In lower case.
        let name: String
        let argument: Argument
    }

    /// The directives in their order.
    private(set) var directives: [Directive] = []

    /// Whether they are those of a field for this kind of cache (RFC 9213), so that `Expires` doesn't count either.
    let isTargeted: Bool

    /// Wraps the directives of a field for this kind of cache.
    init(targeted directives: [Directive]) {
        self.directives = directives
        isTargeted = true
    }

    /// Parses the `Cache-Control` lines among header fields.
    package init(_ fields: HTTPFields) {
        isTargeted = false
        for field in fields where field.name == .cacheControl {
            field.withUnsafeBytesOfValue { line in
                var parser = Parser(line)
                while let directive = parser.next() { directives.append(directive) }
            }
        }
    }

    /// Whether no directive is given.
    package var isEmpty: Bool { directives.isEmpty }

    /// Whether a directive is given, whatever its argument.
    package func contains(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// The argument of a directive's first occurrence; `nil` if it isn't given.
    func argument(_ name: String) -> Argument? { directives.first { $0.name == name }?.argument }

    /// A directive's argument as delta-seconds (section 1.2.2), at most 2^31; `nil` if the directive isn't given or its
    /// argument isn't a number.
    func seconds(_ name: String) -> Int? {
        guard case .value(let text) = argument(name) else { return nil }
        return deltaSeconds(text.utf8)
    }

    /// Whether a directive is given for the whole response rather than for some fields of it (sections 5.2.2.4, 5.2.2.7).
    func isUnqualified(_ name: String) -> Bool {
        directives.contains { $0.name == name && $0.fieldNames.isEmpty }
    }

    /// The fields that a directive is given for, in lower case.
    func fieldNames(_ name: String) -> [String] { directives.filter { $0.name == name }.flatMap(\.fieldNames) }
}

extension CacheControl.Directive {
    fileprivate var fieldNames: [String] {
        guard case .value(let text) = argument else { return [] }
        return text.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }
}
