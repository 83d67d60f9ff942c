import Pipeline

/// Encoding with `EncodeOptions`, which hold the options of all formats.
extension ImageEncoding {
    /// Encodes an image as a file of a format.
    /// - Throws: `LoadError.Code.unencodable` if a side is too long, and as the encoder does.
    func encode(
        _ image: DecodedImage, as format: ImageFormat, _ options: EncodeOptions, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let size = image.size
        guard min(size.width, size.height) > 0 else {
            throw LoadError(
                .unencodable, subject: "", "A picture of \(size) has no pixels, so it can't be written as \(format).")
        }
        guard max(size.width, size.height) <= longestSide else {
            throw LoadError(
                .unencodable, subject: "",
                "A picture of \(size) can't be written as \(format), which has at most \(longestSide) pixels a side; set "
                    + "maxPixelSize or choose another format.")
        }
        return try encode(
            image, quality: options.quality, options: options[defaults], metadata: metadata, cancellation: cancellation)
    }

    func fidelity(of options: EncodeOptions) -> Fidelity { fidelity(options[defaults]) }

    func check(optionsOf options: EncodeOptions) throws(LoadError) { try check(options[defaults]) }

    /// The options that differ from their defaults, as `name: value`.
    func differences(of options: EncodeOptions) -> [String] {
        zip(values(of: options[defaults]), values(of: defaults)).filter { $0.0.value != $0.1.value }
            .map { "\($0.0.name): \($0.0.value)" }
    }

    /// Sets those shared options that the format has.
    func set(_ choices: SharedEncodeOptions, in options: inout EncodeOptions) {
        if let lossless { options[defaults][keyPath: lossless] = choices.lossless }
        if let progressive { options[defaults][keyPath: progressive] = choices.progressive }
        if let effort, let choice = choices.effort {
            options[defaults][keyPath: effort.option] = min(
                max(choice, effort.range.lowerBound), effort.range.upperBound)
        }
    }

    /// Whether an option has an effect on the format.
    package func uses(_ option: SharedEncodeOptions.Name) -> Bool {
        switch option {
        case .quality: fidelity(defaults) == .byQuality
        // A format that is always exact keeps the promise too.
        case .lossless: lossless != nil || fidelity(defaults) == .exact
        case .progressive: progressive != nil
        case .effort: effort != nil
        }
    }

    /// The range of the effort; `nil` for a format without one.
    package var efforts: ClosedRange<Int>? { effort?.range }
}

/// The options that command lines and pipeline files name alike for all formats.
package struct SharedEncodeOptions: Sendable {
    package enum Name: Sendable { case quality, lossless, progressive, effort }

    let lossless, progressive: Bool
    /// Clamped to each format's range; `nil` for each format's default.
    let effort: Int?

    package init(lossless: Bool, progressive: Bool, effort: Int?) {
        self.lossless = lossless
        self.progressive = progressive
        self.effort = effort
    }
}

extension EncodeOptions {
    /// Sets the options of all formats that have them.
    package mutating func set(_ choices: SharedEncodeOptions, for codecs: ImageCodecs) {
        for codec in codecs.codecs { codec.encoder?.set(choices, in: &self) }
    }

    /// The options of a format as cache keys have them. Defaults are omitted, except quality.
    func key(for format: ImageFormat, _ codecs: ImageCodecs) -> String {
        (["\(format)", "quality: \(resolved(for: format).quality)"] + words(for: codecs.codec(for: format)?.encoder))
            .joined(separator: ", ")
    }

    /// The options of a format as plans and traces show them: as ``key(for:_:)``, but for a quality without effect.
    func text(for format: ImageFormat, _ codecs: ImageCodecs) -> String {
        let encoder = codecs.codec(for: format)?.encoder
        let hasQuality = encoder.map { $0.uses(.quality) || $0.fidelity(of: self) == .byQuality } ?? true
        return (["\(format)"] + (hasQuality ? ["quality: \(resolved(for: format).quality)"] : []) + words(for: encoder))
            .joined(separator: ", ")
    }

    private func words(for encoder: (any ImageEncoding)?) -> [String] {
        (maxBytes.map { ["maxBytes: \($0)"] } ?? []) + (metadata == .none ? [] : ["metadata: \(metadata)"])
            + (encoder?.differences(of: self) ?? [])
    }
}
