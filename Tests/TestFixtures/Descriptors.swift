import Foundation

/// The descriptors of this process.
package enum Descriptors {
    /// Those that are open for a file or a folder.
    package static func of(_ path: String) -> [Int32] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.compactMap { Int32($0) }.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
