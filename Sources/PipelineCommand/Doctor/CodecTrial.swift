import Pipeline
import Stages

/// Tries formats with a small image.
enum CodecTrial {
    /// A finding for each format: written and read back where both are possible.
    static func all() async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for format in Formats.codecs.codecs.map(\.format).sorted(by: { $0.rawValue < $1.rawValue }) {
            guard format.isWritable else {
                findings.append(DoctorFinding("codec", format.name, "read", true))
                continue
            }
            do {
                let image = DecodedImage(
                    size: PixelSize(square: 16), layout: .rgb, pixels: [UInt8](repeating: 128, count: 16 * 16 * 3))
                let written = try await EncodedImage(encoding: image, as: format, codecs: Formats.codecs)
                let read = try await DecodedImage(decoding: written.bytes, codecs: Formats.codecs)
                let isSame = read.size == image.size
                findings.append(
                    DoctorFinding("codec", format.name, isSame ? "read, write" : "loses its size", isSame))
            } catch {
                findings.append(DoctorFinding("codec", format.name, CommandWords.text(of: error), false))
            }
        }
        return findings
    }
}
