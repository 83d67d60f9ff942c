import Pipeline
import PipelineImages

/// Writes blocks of bytes to a slab one after the other; a message has their lengths.
struct SlabWriter {
    let slab: UnsafeMutableRawBufferPointer
    private var place = 0

    init(_ slab: UnsafeMutableRawBufferPointer) { self.slab = slab }

    /// Appends a block.
    /// - Throws: `LoadError` with `tooMuchMemory` if it doesn't fit.
    mutating func append(_ block: [UInt8], to message: inout Message) throws(LoadError) {
        guard block.count <= slab.count - place else {
            throw LoadError(
                .tooMuchMemory, subject: "",
                "The result has more than the \(slab.count) bytes that are allowed. Raise the pool's limit of pixels or of bytes."
            )
        }
        message.append(block.count)
        block.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: slab[place..<place + bytes.count]).copyMemory(from: bytes)
        }
        place += block.count
        message.used = place
    }

    mutating func append(_ text: String?, to message: inout Message) throws(LoadError) {
        message.append(text != nil)
        try append(Array((text ?? "").utf8), to: &message)
    }

    mutating func append(_ metadata: EmbeddedMetadata, to message: inout Message) throws(LoadError) {
        for block in [metadata.exif, metadata.xmp, metadata.profile] { try append(block, to: &message) }
        try append(metadata.mastering, to: &message)
    }

    private mutating func append(_ mastering: MasteringMetadata?, to message: inout Message) throws(LoadError) {
        try append(mastering?.display?.numbers, to: &message)
        for light in [mastering?.maximumContentLight, mastering?.maximumFrameAverageLight] {
            try append(light.map { [$0] }, to: &message)
        }
    }

    /// Writes an error's code and message.
    mutating func append(_ error: LoadError, to message: inout Message) throws(LoadError) {
        try append(Array(error.code.rawValue.utf8.prefix(64)), to: &message)
        try append(Array(error.message.utf8.prefix(SlabReader.longestText)), to: &message)
    }

    mutating func append(
        _ description: ImageMetadata, header: ImageHeader, _ formats: [ImageFormat], to message: inout Message
    ) throws(LoadError) {
        message.append(header, formats)
        message.append(ImageMetadata.ColorModel.allCases.firstIndex(of: description.colors) ?? 0)
        message.append(description.profile != nil)
        message.append(description.profile?.isSRGB ?? false)
        message.append(description.profile?.byteCount ?? 0)
        message.append(description.exifByteCount)
        message.append(description.xmpByteCount)
        message.append(description.provenance != nil)
        message.append(description.provenance?.byteCount ?? 0)
        message.append(description.provenance?.manifests ?? 0)
        message.append(description.location != nil)
        for degrees in [description.location?.latitude, description.location?.longitude] {
            message.append(Int(truncatingIfNeeded: (degrees ?? 0).bitPattern))
        }
        try append(description.gainMap, to: &message)
        try append(description.mastering, to: &message)
        for text in [
            description.colorSpaceName, description.transferName, description.profile?.name,
            description.provenance?.label, description.provenance?.url, description.capturedAt, description.camera,
            description.lens,
        ] {
            try append(text, to: &message)
        }
    }
}

extension Message {
    /// The most bytes of an EXIF block in a file of this size. Rewriting one adds little.
    static func mostEXIF(in fileBytes: Int) -> Int { fileBytes.saturatingPlus(1 << 16) }

    /// The most bytes of an XMP packet or a profile, which a PNG compresses: its decoder inflates up to 4 MB.
    static func mostPacked(in fileBytes: Int) -> Int { max(fileBytes, 4 << 20).saturatingPlus(1 << 16) }
}

/// Reads blocks of bytes from a slab one after the other, by the lengths in a message.
struct SlabReader {
    /// The most bytes of a text.
    static let longestText = 4096

    let slab: Slab
    var numbers: Message.Reader
    private var place = 0

    init(_ slab: Slab, _ numbers: Message.Reader) {
        self.slab = slab
        self.numbers = numbers
    }

    mutating func block(atMost most: Int) throws(Message.Malformed) -> [UInt8] {
        let count = try numbers.next(in: 0...min(most, slab.count))
        defer { place += count }
        return [UInt8](copying: try slab.part(at: place, count: count))
    }

    /// Reads a text, which may end up on a terminal.
    mutating func text() throws(Message.Malformed) -> String {
        let bytes = try block(atMost: Self.longestText)
        return plainText(String(decoding: bytes, as: UTF8.self), limit: Self.longestText, filler: " ")
    }

    mutating func optionalText() throws(Message.Malformed) -> String? {
        let (isPresent, text) = (try numbers.nextBool(), try text())
        return isPresent ? text : nil
    }

    /// Reads the metadata of a file.
    mutating func metadata(fileBytes: Int) throws(Message.Malformed) -> EmbeddedMetadata {
        let (exif, packed) = (Message.mostEXIF(in: fileBytes), Message.mostPacked(in: fileBytes))
        var metadata = EmbeddedMetadata(
            exif: try block(atMost: exif), xmp: try block(atMost: packed), profile: try block(atMost: packed))
        metadata.mastering = try mastering()
        return metadata
    }

    private mutating func mastering() throws(Message.Malformed) -> MasteringMetadata? {
        MasteringMetadata(
            display: try decimals(upTo: 10).flatMap(MasteringMetadata.Display.init),
            maximumContentLight: try decimals(upTo: 1)?.first, maximumFrameAverageLight: try decimals(upTo: 1)?.first)
    }

    /// Reads the metadata that is written with a picture made of a file. Its profile is always the program's own.
    mutating func keptMetadata(fileBytes: Int) throws(Message.Malformed) -> EmbeddedMetadata {
        let metadata = try metadata(fileBytes: fileBytes)
        guard !metadata.hasForeignProfile else {
            throw Message.Malformed("it keeps another profile than sRGB's")
        }
        return metadata
    }

    /// Reads the error of a decoder.
    mutating func error() throws(Message.Malformed) -> LoadError {
        let (code, message) = (try text(), try text())
        guard !code.isEmpty, code.utf8.allSatisfy({ (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) })
        else {
            throw Message.Malformed("an error's code isn't a name")
        }
        return LoadError(LoadError.Code(rawValue: code), subject: "", message)
    }

    mutating func description(
        _ formats: [ImageFormat], of codec: Int, byteCount: Int
    ) throws(Message.Malformed) -> ImageMetadata {
        let header = try numbers.nextHeader(formats, of: codec, fileBytes: byteCount)
        guard header.storedSize.width > 0, header.storedSize.height > 0 else {
            throw Message.Malformed("the picture has no pixels")
        }
        let models = ImageMetadata.ColorModel.allCases
        let colors = models[try numbers.next(in: 0...models.count - 1)]
        let (hasProfile, isSRGB) = (try numbers.nextBool(), try numbers.nextBool())
        let profileBytes = try numbers.next(in: 0...Message.mostPacked(in: byteCount))
        let exif = try numbers.next(in: 0...Message.mostEXIF(in: byteCount))
        let xmp = try numbers.next(in: 0...Message.mostPacked(in: byteCount))
        let (hasProvenance, provenanceBytes) = (try numbers.nextBool(), try numbers.next(in: 0...byteCount))
        let manifests = try numbers.next(in: 0...byteCount)
        let isLocated = try numbers.nextBool()
        let (latitude, longitude) = (try degrees(upTo: 90), try degrees(upTo: 180))
        let gainMap = try gainMap()
        let mastering = try mastering()
        let (space, transfer) = (try optionalText() ?? "", try optionalText())
        let (name, label, url) = (try optionalText(), try optionalText(), try optionalText())
        return ImageMetadata(
            header: header, colors: colors,
            profile: hasProfile
                ? ImageMetadata.ColorProfile(name: name, isSRGB: isSRGB, byteCount: profileBytes) : nil,
            colorSpaceName: space, transferName: transfer, gainMap: gainMap, mastering: mastering,
            capturedAt: try optionalText(), camera: try optionalText(), lens: try optionalText(),
            location: isLocated ? ImageMetadata.Location(latitude: latitude, longitude: longitude) : nil,
            provenance: hasProvenance
                ? ImageMetadata.Provenance(byteCount: provenanceBytes, manifests: manifests, label: label, url: url)
                : nil,
            exifByteCount: exif, xmpByteCount: xmp, byteCount: byteCount)
    }

    private mutating func degrees(upTo most: Double) throws(Message.Malformed) -> Double {
        let bits = try numbers.next(in: Int.min...Int.max)
        let degrees = Double(bitPattern: UInt64(bitPattern: Int64(bits)))
        guard (-most...most).contains(degrees) else { throw Message.Malformed("a place isn't on Earth") }
        return degrees
    }
}
