import Pipeline
import Stages

extension ImageMetadata.Location {
    /// Latitude and longitude in degrees, to about a metre, as maps take them.
    var text: String {
        [latitude, longitude].map { "\(($0 * 100_000).rounded() / 100_000)" }.joined(separator: ",")
    }
}

/// What a file says about its image, for people.
struct InfoText: CustomStringConvertible {
    let description: String

    init(_ input: String, _ metadata: ImageMetadata) {
        let shown = input == "-" ? "standard input" : (try? ImageSource(parsing: input).redacted) ?? printable(input)
        var parts = ["\(metadata.size)", metadata.format.name, ByteCount.text(metadata.byteCount)]
        parts.append(
            "\(metadata.bitsPerChannel) bits \(metadata.colors.rawValue)\(metadata.hasAlpha ? " with alpha" : "")")
        if metadata.frames > 1 { parts.append("\(metadata.frames) frames") }
        if metadata.orientation != .up { parts.append("stored turned (orientation \(metadata.orientation.rawValue))") }
        if let profile = metadata.profile { parts.append("profile \(printable(profile.name ?? "unnamed"))") }
        if let colors = metadata.codedColors { parts.append("coded as \(colors)") }
        if let captured = metadata.capturedAt { parts.append("taken \(printable(captured))") }
        if let camera = metadata.camera { parts.append(printable(camera)) }
        if let lens = metadata.lens { parts.append(printable(lens)) }
        if let location = metadata.location { parts.append("GPS position \(location.text)") }
        description = "\(shown): \(parts.joined(separator: ", "))"
    }
}
