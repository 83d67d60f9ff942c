import CVersion

/// The version of this source tree, for the programs that are built of it.
package enum SourceVersion {
    /// Between releases it is the next one's, with `-dev` and the commit, if PIPECTL_COMMIT named it at build time:
    /// `0.2.0-dev+5000c9f5`.
    package static let text = text(of: number, commit: String(cString: cversion_commit()))

    /// A release drops `-dev`; the commit after it starts the next `-dev`.
    package static let number = "0.2.0-dev"

    package static func text(of number: String, commit: String) -> String {
        number.hasSuffix("-dev") && !commit.isEmpty ? "\(number)+\(commit)" : number
    }
}
