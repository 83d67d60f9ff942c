import LibC
import Pipeline
import Stages

#if AVIF
import CAVIF
#endif
#if JPEGXL
import CJXL
#endif

/// One finding of `pipectl doctor`.
struct DoctorFinding {
    let kind: String
    let name: String
    let state: String
    let isWell: Bool

    init(_ kind: String, _ name: String, _ state: String, _ isWell: Bool) {
        (self.kind, self.name, self.state, self.isWell) = (kind, name, state, isWell)
    }

    /// Finds out by work, whose error is the state of what doesn't work.
    init(_ kind: String, _ name: String, _ work: () async throws -> (state: String, isWell: Bool)) async {
        (self.kind, self.name) = (kind, name)
        do { (state, isWell) = try await work() } catch { (state, isWell) = (CommandWords.text(of: error), false) }
    }

    var report: Report { Report(["kind": kind, "name": name, "state": state, "ok": isWell], text) }

    private var text: String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        return "\(isWell ? "ok   " : "WRONG") \(padded(kind, 8))\(padded(name, 16))\(state)"
    }
}

/// Tries formats with a small image.
enum CodecTrial {
    /// A finding for each format: written and read back where both are possible.
    static func all() async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for format in Formats.codecs.codecs.map(\.format).sorted(by: { $0.rawValue < $1.rawValue }) {
            findings.append(
                await DoctorFinding("codec", format.name) {
                    guard format.isWritable else { return ("read", true) }
                    let image = DecodedImage(
                        size: PixelSize(square: 16), layout: .rgb, pixels: [UInt8](repeating: 128, count: 16 * 16 * 3))
                    let written = try await EncodedImage(encoding: image, as: format, codecs: Formats.codecs)
                    let read = try await DecodedImage(decoding: written.bytes, codecs: Formats.codecs)
                    let isSame = read.size == image.size
                    return (isSame ? "read, write" : "loses its size", isSame)
                })
        }
        return findings
    }
}

/// A library that this program uses, and how it reports its version.
struct Library: Sendable {
    private enum Answer: Sendable {
        /// A function that returns a text.
        case text
        /// A function that returns three numbers in one, a byte each.
        case packed
        /// It reports none. Its presence has to do.
        case silent
    }

    let name: String
    /// The name by which the system loads it.
    let file: String
    private let symbol: String
    private let answer: Answer

    /// All libraries that the program uses.
    static let all: [Library] = {
        var all = [
            Library(
                name: "libjpeg-turbo", file: libraryFile("libjpeg", "62"), symbol: "jpeg_std_error", answer: .silent),
            Library(name: "libcurl", file: libraryFile("libcurl", "4"), symbol: "curl_version", answer: .text),
            Library(name: "SQLite", file: libraryFile("libsqlite3", "0"), symbol: "sqlite3_libversion", answer: .text),
        ]
        #if Vips
        all.append(
            Library(name: "libvips", file: libraryFile("libvips", "42"), symbol: "vips_version_string", answer: .text))
        #endif
        #if PNG
        all.append(
            Library(
                name: "libdeflate", file: libraryFile("libdeflate", "0"), symbol: "libdeflate_crc32", answer: .silent))
        #endif
        #if WebP
        all.append(
            Library(
                name: "libwebp", file: libraryFile("libwebp", "7"), symbol: "WebPGetDecoderVersion", answer: .packed))
        #endif
        #if AVIF
        all.append(
            Library(name: "libavif", file: String(cString: cavif_library_name()), symbol: "avifVersion", answer: .text))
        #endif
        #if HEIC
        all.append(
            Library(name: "libheif", file: libraryFile("libheif", "1"), symbol: "heif_get_version", answer: .text))
        all.append(
            Library(name: "libde265", file: libraryFile("libde265", "0"), symbol: "de265_get_version", answer: .text))
        #endif
        #if TIFF
        all.append(
            Library(name: "libtiff", file: libraryFile("libtiff", "6"), symbol: "TIFFOpenOptionsAlloc", answer: .silent)
        )
        #endif
        #if JPEGXL
        all.append(
            Library(
                name: "libjxl", file: String(cString: cjxl_library_name()), symbol: "JxlDecoderVersion",
                answer: .silent))
        #endif
        #if SVG
        all.append(
            Library(
                name: "librsvg", file: libraryFile("librsvg-2", "2"), symbol: "rsvg_handle_get_type", answer: .silent))
        #endif
        #if Fleet
        all.append(
            Library(
                name: "OpenSSL", file: libraryFile("libcrypto", "3"), symbol: "OpenSSL_version_num", answer: .silent))
        all.append(
            Library(name: "hiredis", file: libraryFile("libhiredis", "0.14"), symbol: "redisConnect", answer: .silent))
        #endif
        #if YAML
        all.append(
            Library(
                name: "libyaml", file: libraryFile("libyaml-0", "2"), symbol: "yaml_get_version_string", answer: .text))
        #endif
        return all
    }()

    /// The version, or `present`; `nil` if the library is missing.
    var version: String? {
        guard let library = dlopen(file, RTLD_LAZY | RTLD_LOCAL), let function = dlsym(library, symbol) else {
            return nil
        }
        switch answer {
        case .silent: return "present"
        // The library's header declares the function so: without parameters, with this result.
        case .text:
            typealias Text = @convention(c) () -> UnsafePointer<CChar>?
            return unsafeBitCast(function, to: Text.self)().map { String(cString: $0) }?.split(separator: " ").first
                .map(String.init)
        case .packed:
            typealias Number = @convention(c) () -> CInt
            let number = unsafeBitCast(function, to: Number.self)()
            return "\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
        }
    }
}
