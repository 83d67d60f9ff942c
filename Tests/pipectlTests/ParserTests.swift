import Foundation
import TestFixtures
import Testing

@Suite("With isolated decoders, the program itself parses nothing of a file", .onLinux)
struct ParserTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-exif-xmp-icc.jpg", as: "photo.jpg")
        try pipectl.add("good/gif-animated.gif", as: "moving.gif")
    }

    /// Functions of C libraries that read images, EXIF or profiles, and that other libraries call.
    private static let parsers = [
        "exif_data_load_data", "exif_data_new_from_data", "exif_loader_write", "cmsOpenProfileFromMem",
        "cmsOpenProfileFromMemTHR", "jpeg_read_header", "png_read_info", "heif_context_read_from_memory",
        "heif_context_read_from_memory_without_copy", "TIFFClientOpen", "WebPGetFeaturesInternal", "XML_Parse",
        "xmlReadMemory", "inflate",
    ]

    /// Makes a library that ends any program that calls one of these. The linker prefers it to the true ones.
    private func trap() async throws -> String? {
        let source =
            "#include <unistd.h>\n"
            + Self.parsers.map { name in
                "void \(name)(void) { static const char text[] = \"called \(name)\\n\"; "
                    + "(void)!write(2, text, sizeof text - 1); _exit(99); }\n"
            }.joined()
        try Data(source.utf8).write(to: URL(filePath: pipectl.path("trap.c")))
        let options = "-fno-builtin -shared -fPIC -o trap.so trap.c"
        let made = try await pipectl.shell("clang \(options) || cc \(options)")
        guard made.status == 0 else {
            print("Skipped: there is no compiler of C to make the trap with. \(made.errors)")
            return nil
        }
        return pipectl.path("trap.so")
    }

    @Test("No format's encoder hands metadata to a parser", arguments: ["all", "no-gps", "icc", "copyright"])
    func encoders(_ metadata: String) async throws {
        guard let trap = try await trap() else { return }
        for source in ["photo.jpg", "moving.gif"] {
            for format in ["avif", "webp", "png", "jpg", "tiff", "gif"] {
                let result = try await pipectl.run(
                    ["convert", "--isolate", "--metadata", metadata, "-y", source, "out.\(format)"],
                    ["LD_PRELOAD": trap])
                #expect(result.status == 0, "\(source) to \(format): \(result.errors)")
            }
        }
    }

    @Test("The trap works: without isolation it is called")
    func trapped() async throws {
        guard let trap = try await trap() else { return }
        let result = try await pipectl.run(
            ["convert", "--no-isolate", "-y", "photo.jpg", "out.png"], ["LD_PRELOAD": trap])
        #expect(result.status == 99)
        #expect(result.errors.contains("called jpeg_read_header"))
    }
}
