import FoundationEssentials
import Pipeline
import Stages

/// What a file says about its image, as `--json` prints it: an object on a line.
struct InfoReport: Encodable {
    private let input: String
    private let metadata: ImageMetadata?
    private let hashes: ImageHashes?
    private let error: FailureReport?

    init(input: String, _ metadata: ImageMetadata, _ hashes: ImageHashes?) {
        self.input = input
        self.metadata = metadata
        self.hashes = hashes
        error = nil
    }

    init(input: String, _ error: LoadError) {
        self.input = input
        metadata = nil
        hashes = nil
        self.error = FailureReport(error)
    }

    private enum Field: String, CodingKey {
        case input, format, width, height, storedWidth, storedHeight, orientation, frames, loopCount, alpha, bits,
            colours
        case profile, primaries, transfer, matrix, fullRange, captured, camera, lens, latitude, longitude, exifBytes,
            xmpBytes, bytes, hashes, error
    }

    /// Writes every field, with `null` for missing values, so that readers needn't check which fields are there.
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(input, forKey: .input)
        try fields.encode(metadata?.format.rawValue, forKey: .format)
        try fields.encode(metadata?.size.width, forKey: .width)
        try fields.encode(metadata?.size.height, forKey: .height)
        try fields.encode(metadata?.storedSize.width, forKey: .storedWidth)
        try fields.encode(metadata?.storedSize.height, forKey: .storedHeight)
        try fields.encode(metadata?.orientation.rawValue, forKey: .orientation)
        try fields.encode(metadata?.frames, forKey: .frames)
        try fields.encode(metadata?.loopCount, forKey: .loopCount)
        try fields.encode(metadata?.hasAlpha, forKey: .alpha)
        try fields.encode(metadata?.bitsPerChannel, forKey: .bits)
        try fields.encode(metadata?.colours.rawValue, forKey: .colours)
        try fields.encode(metadata?.profile.map { $0.name ?? "unnamed" }, forKey: .profile)
        try fields.encode(metadata?.codedColours?.primaries, forKey: .primaries)
        try fields.encode(metadata?.codedColours?.transfer, forKey: .transfer)
        try fields.encode(metadata?.codedColours?.matrix, forKey: .matrix)
        try fields.encode(metadata?.codedColours?.isFullRange, forKey: .fullRange)
        try fields.encode(metadata?.capturedAt, forKey: .captured)
        try fields.encode(metadata?.camera, forKey: .camera)
        try fields.encode(metadata?.lens, forKey: .lens)
        try fields.encode(metadata?.location?.latitude, forKey: .latitude)
        try fields.encode(metadata?.location?.longitude, forKey: .longitude)
        try fields.encode(metadata?.exifByteCount, forKey: .exifBytes)
        try fields.encode(metadata?.xmpByteCount, forKey: .xmpBytes)
        try fields.encode(metadata?.byteCount, forKey: .bytes)
        try fields.encode(hashes, forKey: .hashes)
        try fields.encode(error, forKey: .error)
    }
}
