public import Pipeline

/// The options of ``Encode``. Each format also has its own options, which other formats ignore.
///
/// ```swift
/// var options = EncodeOptions(quality: 75, maxBytes: 100_000)
/// options.jpeg.progressive = true
/// Encode(.jpeg, options: options)
/// ```
public struct EncodeOptions: Sendable, Hashable {
    /// From 1, small, to 100, faithful; 80 by default. It has no effect on PNG, GIF, TIFF and lossless files.
    public var quality: Int
    /// The quality of formats that have another one, for stages that choose the format; none by default.
    public var qualities: [ImageFormat: Int] = [:]
    /// The most bytes that the file may have; `nil`, the default, for no limit. The highest quality up to ``quality``
    /// that fits is used.
    public var maxBytes: Int?
    /// Which of the source's metadata is written; ``KeptMetadata/none`` by default.
    public var metadata: KeptMetadata
    /// The formats' own options that differ from the defaults, one value of each type.
    private var formats: Set<FormatOptions> = []

    /// Creates options; omitted ones, and the formats' own, have their defaults.
    public init(quality: Int = 80, maxBytes: Int? = nil, metadata: KeptMetadata = .none) {
        self.quality = quality
        self.maxBytes = maxBytes
        self.metadata = metadata
    }

    /// A format's own options, found by their type: `options[QOIEncoder().defaults].isLinear = true`. The built-in
    /// formats have properties for theirs, such as ``jpeg``.
    /// - Parameter defaults: The options where none are set.
    public subscript<Options: Hashable & Sendable>(defaults: Options) -> Options {
        get { formats.lazy.compactMap { $0.value as? Options }.first ?? defaults }
        set {
            formats = formats.filter { !($0.value is Options) }
            if newValue != defaults { formats.insert(FormatOptions(value: newValue)) }
        }
    }

    /// The same options with the quality of a format.
    func resolved(for format: ImageFormat) -> EncodeOptions {
        var options = self
        options.quality = qualities[format] ?? quality
        options.qualities = [:]
        return options
    }

    /// Checks the ranges of all options. ``Encode`` does so before it writes; a program that takes options from a user
    /// can do so before anything is loaded.
    /// - Parameter codecs: The formats whose own options are checked; by default ``ImageCodecs/standard``.
    /// - Throws: `LoadError.Code.unencodable` with the option and its range.
    func check(_ codecs: ImageCodecs = .standard) throws(LoadError) {
        for quality in [quality] + qualities.values { try Self.check("quality", quality, 1...100) }
        if let maxBytes { try Self.check("maxBytes", maxBytes, 1...Int.max) }
        for codec in codecs.codecs { try codec.encoder?.check(optionsOf: self) }
    }

    /// Checks the range of one option, for an encoder of your own.
    /// - Throws: `LoadError.Code.unencodable` with the option and its range.
    public static func check<Value: Comparable>(
        _ name: String, _ value: Value, _ range: ClosedRange<Value>
    ) throws(LoadError) {
        guard !range.contains(value) else { return }
        let end = (range.upperBound as? Int) == .max ? "at least \(range.lowerBound)" : "\(range)"
        throw LoadError(.unencodable, subject: "", "The option \(name) is \(value); it has to be \(end).")
    }
}

/// The options of one format, of any type.
private struct FormatOptions: Sendable, Hashable {
    let value: any Hashable & Sendable

    static func == (left: FormatOptions, right: FormatOptions) -> Bool {
        AnyHashable(left.value) == AnyHashable(right.value)
    }

    func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
