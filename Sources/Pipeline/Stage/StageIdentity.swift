/// What a stage is compared by: two stages of one type with equal identities do the same, with the same objects.
///
/// ```swift
/// struct Watermark: Stage {
///     let text: String
///     let fonts: FontCache  // a class
///     var identity: StageIdentity? { StageIdentity(text, over: [fonts]) }
/// }
/// ```
///
/// Loads of equal lists share their work, see ``Stage/identity``. Only texts and objects are compared, so no code of a stage
/// runs then.
///
/// Unchecked, and safe: all `objects` were values that are `Sendable`.
public struct StageIdentity: @unchecked Sendable {
    let texts: [String]
    let objects: [AnyObject]

    /// Names what the stage does and what it works with.
    /// - Parameters:
    ///   - texts: All parameters that change what the stage does, each as a text that no other value has.
    ///   - objects: The clients, caches and other objects that it works with, always in the same order.
    /// - Returns: `nil` if one of `objects` is a value, which can't be compared.
    public init?(_ texts: String..., over objects: [any Sendable] = []) {
        self.texts = texts
        self.objects = objects.compactMap { type(of: $0) is AnyClass ? $0 as AnyObject : nil }
        guard self.objects.count == objects.count else { return nil }
    }
}

/// What all copies of a value have in common that holds closures, which can't be compared.
package final class CopyMark: Sendable {
    package init() {}
}
