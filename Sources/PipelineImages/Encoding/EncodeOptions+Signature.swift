import Pipeline

extension EncodeOptions {
    /// All that makes a difference to the bytes of a format, in short; what is as by default is left out, but for the
    /// quality.
    func text(for format: ImageFormat) -> String {
        let defaults = EncodeOptions()
        var words = ["quality: \(quality)"]
        if let maxBytes { words.append("maxBytes: \(maxBytes)") }
        if metadata != .none { words.append("metadata: \(metadata)") }
        func add<Value: Equatable>(_ name: String, _ path: KeyPath<EncodeOptions, Value>) {
            guard self[keyPath: path] != defaults[keyPath: path] else { return }
            words.append("\(name): \(self[keyPath: path])")
        }
        switch format {
        case .jpeg:
            add("progressive", \.jpeg.progressive)
            add("chroma", \.jpeg.chroma.rawValue)
            add("optimizesCodes", \.jpeg.optimizesCodes)
        case .png:
            add("compression", \.png.compression)
            add("filter", \.png.filter)
            if let colours = png.colours { words.append("colours: \(colours)") }
            add("dither", \.png.dither)
        case .webp:
            add("lossless", \.webp.lossless)
            add("effort", \.webp.effort)
        case .avif:
            add("lossless", \.avif.lossless)
            add("effort", \.avif.effort)
            add("chroma", \.avif.chroma.rawValue)
        case .gif:
            add("colours", \.gif.colours)
            add("dither", \.gif.dither)
            add("effort", \.gif.effort)
        case .tiff: add("compression", \.tiff.compression)
        default: break
        }
        return words.joined(separator: ", ")
    }

    /// The same for a list that may write several formats.
    func text(for formats: [ImageFormat]) -> String {
        formats.map { "\($0), \(text(for: $0))" }.joined(separator: "; ")
    }
}
