extension ImageRequest {
    /// Longer bytes and `data:` URLs are processed on one of our threads: at 1 GB a second, 256 KB take 0.25 ms.
    package static let longInlineSource = 262_144

    /// Whether its key is the digest of many bytes, which takes a while to calculate.
    package var hasLongInlineSource: Bool {
        let count =
            switch source {
            case .bytes(let bytes): bytes.count
            case .dataURL(let text): text.utf8.count
            case .url, .file: 0
            }
        return count > Self.longInlineSource && identifier == nil
    }
}
