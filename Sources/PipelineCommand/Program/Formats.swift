import LibC
import Pipeline
import Stages

/// The formats that this command reads and writes.
enum Formats {
    private static let list = Lock(ImageCodecs.standard)

    /// Set once, as the command starts.
    static var codecs: ImageCodecs {
        get { list.withLock { $0 } }
        set { list.withLock { $0 = newValue } }
    }

    /// The format of a result that neither an option nor a name determines.
    static let standard = ImageFormat.png

    /// The extensions of the formats that can be written.
    static var writable: [String] { codecs.codecs.filter { $0.encoder != nil }.map(\.format.fileExtension) }

    /// The extensions of the formats that have a use for an option.
    static func using(_ option: SharedEncodeOptions.Name) -> [String] {
        codecs.codecs.filter { $0.encoder?.uses(option) == true }.map(\.format.fileExtension)
    }

    /// The efforts of the formats that have one, by their extensions.
    static var efforts: [(name: String, range: ClosedRange<Int>)] {
        codecs.codecs.compactMap { codec in codec.encoder?.efforts.map { (codec.format.fileExtension, $0) } }
    }

    /// Joins words as in a sentence: `jpg, webp and avif`.
    static func words(_ names: [String], _ conjunction: String) -> String {
        names.count < 2
            ? names.joined() : names.dropLast().joined(separator: ", ") + " \(conjunction) " + names[names.count - 1]
    }
}

extension ImageFormat {
    /// The media type without `image/`, such as `jpeg`.
    var name: String { rawValue.split(separator: "/").last.map(String.init) ?? rawValue }

    /// The extension of a new file, such as `jpg`.
    var fileExtension: String { codec?.extensions.first ?? name }

    /// Whether all frames of an animation can be written in it.
    var holdsMotion: Bool { codec?.encoder?.holdsMotion == true }

    /// Whether it can be written.
    var isWritable: Bool { codec?.encoder != nil }

    /// The format that a source's result has unless another is chosen: its own where that can be written, JPEG for those of
    /// cameras, PNG for the rest.
    var ofResult: ImageFormat { isWritable ? self : codec?.substitute ?? Formats.standard }

    private var codec: ImageCodec? { Formats.codecs.codec(for: self) }
}

/// Determines the format of a file on this machine by its bytes.
enum SourceFormat {
    /// Reads a file's first bytes; `nil` if it is not a regular file, can't be read, or isn't an image.
    static func ofFile(_ path: String) -> ImageFormat? {
        guard FileFacts(path)?.kind == .regular else { return nil }
        let file = path.withPath { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var start = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &start, start.count)
        return count > 0 ? Formats.codecs.format(of: Array(start[..<count])) : nil
    }
}
