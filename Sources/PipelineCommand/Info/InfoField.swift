import Pipeline
import Stages

/// A field that `info -F` can print.
enum InfoField: String, CaseIterable, Sendable {
    case path, name, w, h, format, orientation, frames, alpha, bits, colours, profile, primaries, transfer, captured,
        camera, lens, gps,
        bytes

    /// The field's text; empty where the file says nothing.
    func text(_ input: String, _ metadata: ImageMetadata) -> String {
        switch self {
        case .path: printable(input)
        case .name: printable(OutputName(input, index: 1).name)
        case .w: "\(metadata.size.width)"
        case .h: "\(metadata.size.height)"
        case .format: metadata.format.name
        case .orientation: "\(metadata.orientation.rawValue)"
        case .frames: "\(metadata.frames)"
        case .alpha: "\(metadata.hasAlpha)"
        case .bits: "\(metadata.bitsPerChannel)"
        case .colours: metadata.colors.rawValue
        case .profile: printable(metadata.profile.map { $0.name ?? "unnamed" } ?? "")
        case .primaries: metadata.codedColors?.primariesName ?? ""
        case .transfer: metadata.codedColors?.transferName ?? ""
        case .captured: printable(metadata.capturedAt ?? "")
        case .camera: printable(metadata.camera ?? "")
        case .lens: printable(metadata.lens ?? "")
        case .gps: metadata.location?.text ?? ""
        case .bytes: "\(metadata.byteCount)"
        }
    }
}
