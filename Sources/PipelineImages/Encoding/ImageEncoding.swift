public import Pipeline

/// Makes files of one format. A type of your own adds a format that ``Encode`` writes, as part of an ``ImageCodec``.
///
/// An encoder has options of its own. ``EncodeOptions`` holds them by their type:
///
/// ```swift
/// var options = EncodeOptions()
/// options[QOIEncoder().defaults].isLinear = true
/// ```
public protocol ImageEncoding: Sendable {
    /// The format's own options.
    associatedtype Options: Sendable & Hashable

    /// The options where none are set.
    var defaults: Options { get }
    /// The most pixels that a side may have; 10,000,000 by default.
    var longestSide: Int { get }
    /// Whether the format holds transparency; `true` by default.
    var holdsAlpha: Bool { get }
    /// Whether the format holds all frames of an animation; `false` by default. Others get the first frame.
    var holdsMotion: Bool { get }
    /// Whether files say which colours their numbers stand for, by ``EmbeddedMetadata/profile`` or
    /// ``EmbeddedMetadata/colors``; `false` by default. Others get pixels converted to sRGB.
    var holdsProfile: Bool { get }
    /// Whether files hold 16 bits a channel (`PixelLayout.SampleType.uint16`) of a still picture; `false` by default. Others
    /// get 8.
    var holdsDepth: Bool { get }
    /// Whether files hold HDR of 16 bits a channel, such as `PixelLayout.ColorSpace.bt2100PQ`, as the numbers in
    /// ``EmbeddedMetadata/colors`` describe it; `false` by default. Others get SDR by tone mapping.
    var holdsHDR: Bool { get }
    /// Whether files hold the `GainMap` of a still picture; `false` by default. Others get pictures without any.
    var holdsGainMap: Bool { get }
    /// Whether ``encode(_:quality:options:metadata:cancellation:)`` ends soon after its cancellation; `true` by default.
    /// A cancelled load doesn't wait for an encoder that can't be stopped. The call ends later, on its thread.
    var canBeStopped: Bool { get }

    /// The option to keep every pixel exactly, called `lossless` on command lines and in YAML; `nil`, the default, if
    /// there is none.
    var lossless: WritableKeyPath<Options, Bool>? { get }
    /// The option to show the picture coarsely first, called `progressive`; `nil`, the default, if there is none.
    var progressive: WritableKeyPath<Options, Bool>? { get }
    /// The option for how hard to look for a smaller file, called `effort`, and its range; `nil`, the default, if there
    /// is none.
    var effort: (option: WritableKeyPath<Options, Int>, range: ClosedRange<Int>)? { get }

    /// What these options lose of the pixels; ``Fidelity/exact`` by default.
    func fidelity(_ options: Options) -> Fidelity
    /// All options that affect the file. Those that differ from the defaults become part of cache keys, as `name: value`, so
    /// names and values must never change their meaning.
    func values(of options: Options) -> [(name: String, value: String)]
    /// Checks the ranges of options; by default all are accepted. See ``EncodeOptions/check(_:_:_:)``.
    /// - Throws: `LoadError.Code.unencodable` with the option and its range.
    func check(_ options: Options) throws(LoadError)

    /// Makes a file. Runs on a thread that may block.
    /// - Parameters:
    ///   - image: The pixels: 8 bits a channel with straight alpha, in sRGB or, with ``holdsProfile``, in the colours that
    ///     `metadata` tells; the layout says sRGB in both cases. Its sides are within ``longestSide``. With ``holdsGainMap``,
    ///     its gain map is the one to write.
    ///   - quality: From 1 to 100; ignored without ``Fidelity/byQuality``.
    ///   - options: The format's own options; they passed ``check(_:)``.
    ///   - metadata: The metadata to write, if the format can hold it.
    ///   - cancellation: To be checked every few milliseconds.
    /// - Throws: `LoadError.Code.unencodable`; `CancellationError`.
    func encode(
        _ image: DecodedImage, quality: Int, options: Options, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8]
}

/// What an encoder loses of the pixels.
public enum Fidelity: Sendable, Hashable {
    /// Nothing.
    case exact
    /// The lower the quality, the more is lost and the smaller the file.
    case byQuality
    /// Some detail at any quality, such as by reduction to a palette.
    case fixed
}

extension ImageEncoding {
    /// 10,000,000.
    public var longestSide: Int { 10_000_000 }
    /// `true`.
    public var holdsAlpha: Bool { true }
    /// `false`.
    public var holdsMotion: Bool { false }
    /// `false`.
    public var holdsProfile: Bool { false }
    /// `false`.
    public var holdsDepth: Bool { false }
    /// `false`.
    public var holdsHDR: Bool { false }
    /// `false`.
    public var holdsGainMap: Bool { false }
    /// `true`.
    public var canBeStopped: Bool { true }
    /// `nil`.
    public var lossless: WritableKeyPath<Options, Bool>? { nil }
    /// `nil`.
    public var progressive: WritableKeyPath<Options, Bool>? { nil }
    /// `nil`.
    public var effort: (option: WritableKeyPath<Options, Int>, range: ClosedRange<Int>)? { nil }
    /// ``Fidelity/exact``.
    public func fidelity(_ options: Options) -> Fidelity { .exact }
    /// Accepts all options.
    public func check(_ options: Options) throws(LoadError) {}
}
