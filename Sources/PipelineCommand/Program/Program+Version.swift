import CVersion

extension Program {
    /// The program's version. Between releases it is the next one's, with `-dev` and the commit, if `make release` built
    /// it: `0.2.0-dev+5000c9f5`.
    static let version = version(of: number, commit: String(cString: cversion_commit()))

    /// The version of this source tree. A release drops `-dev`; the commit after it starts the next `-dev`.
    static let number = "0.2.0-dev"

    static func version(of number: String, commit: String) -> String {
        number.hasSuffix("-dev") && !commit.isEmpty ? "\(number)+\(commit)" : number
    }
}
