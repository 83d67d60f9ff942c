public import Pipeline

/// The gain map of a file: a second picture that says how much brighter each place of the first one is on a display with
/// headroom.
///
/// ```swift
/// let map = try await ImageMetadata(of: bytes).gainMap
/// map?.standard                           // .iso
/// map?.parameters?.alternateHeadroom      // 2.3 stops above white
/// ```
///
/// A decode makes a `GainMap` of it if the list keeps it; see `GainMapHandling`.
public struct GainMapDescription: Sendable, Hashable {
    /// The description that a file has of its gain map.
    public enum Standard: String, Sendable, Hashable, CaseIterable {
        /// ISO 21496-1, in a JPEG's segment, or the item `tmap` of AVIF and HEIC.
        case iso = "ISO 21496-1"
        /// Adobe's properties `hdrgm` in XMP, which Ultra HDR's first version has too.
        case adobe = "Adobe hdrgm"
        /// Apple's auxiliary picture, whose headroom is in XMP or in the camera's notes.
        case apple = "Apple"
    }

    /// The description that was read. ISO 21496-1 goes first, then Adobe's properties, then Apple's.
    public let standard: Standard
    /// The stored size of the map in pixels, often smaller than the picture's; `nil` if the map itself isn't in the file,
    /// as after a program has copied only the first picture with its metadata.
    public let size: PixelSize?
    /// The colours of the map's pixels, 1 or 3; `nil` if the file doesn't say without decoding.
    public let channelCount: Int?
    /// The numbers by which the map is applied; `nil` if they can't be read, see ``fault``.
    public let parameters: GainMapParameters?
    /// Why the parameters can't be read, as a sentence's part such as `its gamma is 0`; `nil` if they can.
    public let fault: String?

    /// What is told of a picture that is made without its map.
    package static let dropped = "The HDR gain map is dropped."
    /// What is told if a map that was to be kept can't be decoded.
    static let unreadable = "The HDR gain map is dropped, since it is damaged."

    /// Describes a gain map whose parameters can be read.
    package init(_ standard: Standard, size: PixelSize?, channelCount: Int?, _ parameters: GainMapParameters) {
        (self.standard, self.size, self.channelCount) = (standard, size, channelCount)
        (self.parameters, fault) = (parameters, nil)
    }

    /// Describes a gain map whose parameters can't be read.
    package init(_ standard: Standard, size: PixelSize?, channelCount: Int?, fault: String) {
        (self.standard, self.size, self.channelCount) = (standard, size, channelCount)
        (parameters, self.fault) = (nil, fault)
    }

    /// Describes a gain map by what reading its parameters returns or throws.
    init(
        _ standard: Standard, size: PixelSize?, channelCount: Int?,
        reading parameters: () throws(GainMapFault) -> GainMapParameters
    ) {
        do {
            self.init(standard, size: size, channelCount: channelCount, try parameters())
        } catch {
            self.init(standard, size: size, channelCount: channelCount, fault: error.reason)
        }
    }

    /// The bytes that decoding a map of a size holds; 0 for one that isn't decoded, since its parameters can't be read or it
    /// has more than four times as many pixels as its picture.
    func memory(_ size: PixelSize, of picture: PixelSize) -> Int {
        guard parameters != nil, size.bytes(1) <= picture.bytes(4) else { return 0 }
        // Planes or coefficients as the codec holds them, the pixels, and the same turned.
        return size.bytes(18)
    }

    /// Finds the gain map of a file; `nil` if there is none, or if the format isn't JPEG, AVIF or HEIC.
    /// - Throws: `CancellationError`.
    init?(of bytes: [UInt8], _ format: ImageFormat, _ cancellation: WorkCancellation) throws {
        let found: GainMapDescription?
        switch format {
        case .jpeg: found = try JPEGGainMap(in: bytes, cancellation)?.description
        #if AVIF || HEIC
        case .avif, .heic:
            found = try HEIFFile(ifPresent: bytes, format: format, cancellation)?.gainMap?.description
        #endif
        default: found = nil
        }
        guard let found else { return nil }
        self = found
    }
}
