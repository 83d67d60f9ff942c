import Foundation

/// A library that ends a program as soon as it calls a function that reads images, and prints that function's name.
///
/// Which functions these are follows from the program: all of `PipelineImages` that take bytes, those of the C modules next
/// to it, and what other libraries have for the same. A few may be called in a program whose decoders are isolated: each is
/// listed here with its reason, so that a parser that is added later isn't among them.
struct ParserTrap {
    /// The path for `LD_PRELOAD`.
    let library: String
    /// The functions of the program that are trapped, as `Type.function(label: Argument`.
    let names: [String]

    /// What may run in the program, by types and functions.
    static let allowed: [(reason: String, names: Set<String>)] = [
        (
            "tells formats apart by a file's first bytes",
            [
                "ImageCodec", "ImageCodecs", "SVGSignature", "HEIFBrands", "UnknownFormat", "JPEGXLContainer.isBare",
            ]
        ),
        (
            "hands the bytes to a worker",
            [
                "DecodeWork", "KnownHeader", "ImageDecoding", "KeptMetadata", "StrippedMetadata",
                "ImageMetadata.init(of:",
                "ImageMetadata.reading",
            ]
        ),
        ("holds blocks that a worker has checked", ["EmbeddedMetadata"]),
        (
            "calculates with pixels",
            [
                "BlockMeans", "BlurHash", "Color", "ColorHistogram", "Composite", "DeepSamples", "DifferenceHash",
                "ImageComparison", "ImageHeader", "ImageOrientation", "InterestSamples", "Palette", "PaletteRows",
                "Resampler",
                "RowSink", "StructuralSimilarity", "ThumbHash", "ThumbHashBytes", "Trim", "Turn",
            ]
        ),
        (
            "writes files",
            [
                "AVIFLoops", "AVIFMetadata", "Deflation", "Encode", "GIFFrames", "GIFShownFrame", "GIFWriter",
                "JPEGGainMapFile",
                "PNGAnimationWriter", "PNGIndexedRows", "PNGWriter", "QualitySearch", "WebPMetadata",
            ]
        ),
    ]
    /// What is read of the AVIF that the encoder has just written, whose blocks are placed by it.
    static let readsOwnAVIF: Set<String> = ["HEIFFile", "ISOBox"]
    /// What takes EXIF's texts out of the block that a worker has made, for the tags of a TIFF.
    static let readsTexts: Set<String> = ["EXIFBlock"]

    /// Modules of C, and the words of their functions that read nothing of a file.
    private static let modules = ["avif", "gif", "heif", "jpeg", "jxl", "png", "svg", "tiff", "vips"]
    private static let writing = [
        "encode", "writer", "save", "pack", "filter", "compare", "show", "uncovered", "free", "library_name",
        "is_available",
    ]

    /// Functions of libraries that the program or one of its libraries calls.
    private static let foreign = [
        "exif_data_load_data", "exif_data_new_from_data", "exif_loader_write", "cmsOpenProfileFromMem",
        "cmsOpenProfileFromMemTHR", "jpeg_read_header", "jpeg_CreateDecompress", "png_read_info",
        "heif_context_read_from_memory",
        "heif_context_read_from_memory_without_copy", "TIFFClientOpen", "WebPGetFeaturesInternal", "WebPDecode",
        "WebPIDecode",
        "WebPDemuxInternal", "libdeflate_zlib_decompress", "libdeflate_gzip_decompress", "XML_Parse", "xmlReadMemory",
        "inflate",
    ]

    /// Makes the library for a program; `nil` if there is no compiler of C or no `nm`.
    init?(for program: URL, allowing more: Set<String> = [], in pipectl: Pipectl) async throws {
        let allowed = Self.allowed.reduce(into: more) { $0.formUnion($1.names) }
        let pattern = #" [tT] (\$s14PipelineImages|c(\#(Self.modules.joined(separator: "|")))_)"#
        let symbols = try await pipectl.shell(
            "nm --defined-only '\(program.path)' >nm.txt && grep -E '\(pattern)' nm.txt | swift demangle")
        let functions = symbols.lines.compactMap { Function(line: $0) }.filter { !$0.isAllowed(allowed) }
        guard symbols.status == 0, !functions.isEmpty else { return nil }
        let name = (["trap", program.lastPathComponent] + more.sorted()).joined(separator: "-")
        try Data(Self.source(functions, in: program.lastPathComponent).utf8)
            .write(to: URL(filePath: pipectl.path("\(name).c")))
        let options = "-fno-builtin -shared -fPIC -o \(name).so \(name).c"
        guard try await pipectl.shell("clang \(options) || cc \(options)").status == 0 else { return nil }
        library = pipectl.path("\(name).so")
        names = functions.map(\.name)
    }

    /// A function of the program that takes bytes.
    struct Function {
        let address: Substring
        /// Without modules, and without what sets private names apart.
        let name: String

        /// - Parameter line: A line of nm, with the name as in the source.
        init?(line: String) {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3 else { return nil }
            address = words[0]
            let text = words[2].replacing(#/\((\w+) in _[0-9A-F]{32}\)/#) { $0.1 }
                .replacing("(extension in PipelineImages):", with: "").replacing("PipelineImages.", with: "")
                .replacing("Swift.", with: "").replacing(#/^static /#, with: "")
            name = String(text.prefix(100))
            if text.starts(with: "c"), text.contains("_"), !text.contains(" ") {
                guard !ParserTrap.writing.contains(where: { text.contains($0) }) else { return nil }
            } else {
                // Parts of a function, and what the compiler makes, are only reached through functions.
                guard name.first?.isUppercase == true, !name.contains("#"), !name.contains("getter"),
                    let end = text.range(of: " -> ")?.lowerBound, text[..<end].contains("UInt8")
                else { return nil }
            }
        }

        func isAllowed(_ allowed: Set<String>) -> Bool {
            allowed.contains {
                name.hasPrefix("\($0).") || name.hasPrefix("\($0)(") || $0.contains(":") && name.hasPrefix($0)
            }
        }
    }

    /// Replaces the first instruction of each function by one that stops the program.
    private static func source(_ functions: [Function], in program: String) -> String {
        #"""
        #define _GNU_SOURCE
        #include <link.h>
        #include <signal.h>
        #include <stdint.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <ucontext.h>
        #include <unistd.h>

        #if defined(__x86_64__)
        typedef unsigned char instruction;
        static const instruction stop = 0xcc;
        #define PLACE(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RIP] - 1)
        #else
        typedef uint32_t instruction;
        static const instruction stop = 0xd4200000;
        #define PLACE(context) ((uintptr_t)(context)->uc_mcontext.pc)
        #endif

        static const struct { uintptr_t address; const char *name; } functions[] = {

        """#
            + functions.map { "    {0x\($0.address), \"\($0.name)\\n\"},\n" }.joined()
                + #"""
                };
                enum { COUNT = sizeof functions / sizeof *functions };
                static uintptr_t start;

                static void end(const char *name) {
                    (void)!write(2, "called ", 7);
                    (void)!write(2, name, strlen(name));
                    _exit(99);
                }

                static void stopped(int signal, siginfo_t *information, void *context) {
                    uintptr_t place = PLACE((ucontext_t *)context) - start;
                    for (int i = 0; i < COUNT; i++)
                        if (functions[i].address == place) end(functions[i].name);
                    end("something else\n");
                }

                static int find(struct dl_phdr_info *object, size_t size, void *found) {
                    // The program is the first.
                    start = object->dlpi_addr;
                    return 1;
                }

                __attribute__((constructor)) static void set(void) {
                    char path[4096] = {0};
                    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return;
                    // Programs that the program starts have the library too.
                    if (strcmp(strrchr(path, '/'), "/\#(program)") != 0) return;
                    dl_iterate_phdr(find, NULL);
                    struct sigaction action = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO};
                    sigaction(SIGTRAP, &action, NULL);
                    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
                    for (int i = 0; i < COUNT; i++) {
                        instruction *first = (instruction *)(start + functions[i].address);
                        mprotect((void *)((uintptr_t)first & -page), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
                        *first = stop;
                        __builtin___clear_cache((char *)first, (char *)(first + 1));
                    }
                }

                """#
            + foreign.map { "void \($0)(void) { end(\"\($0)\\n\"); }\n" }.joined()
    }
}
