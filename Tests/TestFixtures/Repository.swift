package import Foundation

/// The repository's folder, for tests that read its pages, scripts and images.
package enum Repository {
    package static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
