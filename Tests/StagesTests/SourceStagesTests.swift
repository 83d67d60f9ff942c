import Foundation
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Files, data URLs and bytes")
struct SourceStagesTests {
    private func load(_ source: ImageSource, byteLimit: Int = 64_000_000) async throws -> LoadResponse {
        try await ImagePipeline {
            ResolveIdentifier()
            ReadInline()
            ReadFile(byteLimit: byteLimit)
        }.load(ImageRequest(source))
    }

    @Test("A file is read whole, and its bytes come from a file")
    func file() async throws {
        let response = try await load(.file(Pictures.path("good/jpeg-cmyk-icc.jpg")))
        #expect(response.encoded?.bytes == (try Pictures.bytes("good/jpeg-cmyk-icc.jpg")))
        #expect(response.source == .file)
    }

    @Test("Within a folder, no symbolic link leads out of it, and only regular files are read")
    func folder() async throws {
        let top = FileManager.default.temporaryDirectory.appending(path: "within-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: top) }
        let folder = top.appending(path: "pictures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in [top.appending(path: "secret"), folder.appending(path: "a")] { try Data("x".utf8).write(to: file) }
        func link(_ name: String, _ target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending(path: name).path, withDestinationPath: target)
        }
        try link("out", "../secret")
        try link("up", "..")
        try link("inside", "a")
        #expect(mkfifo(folder.appending(path: "pipe").path, 0o600) == 0)
        let pipeline = ImagePipeline { ReadFile(within: folder.path) }
        for name in ["a", "inside"] {
            let file = folder.appending(path: name).path
            #expect(try await pipeline.load(ImageRequest(.file(file))).encoded?.bytes == Array("x".utf8))
        }
        for (name, code) in [
            ("out", LoadError.Code.refused), ("up/secret", .refused), ("pipe", .fileUnreadable),
            ("/etc/passwd", .refused),
        ] {
            let file = name.hasPrefix("/") ? name : folder.appending(path: name).path
            let error = await #expect(throws: LoadError.self) { try await pipeline.load(ImageRequest(.file(file))) }
            #expect(error?.code == code, "\(name)")
        }
    }

    @Test("Short bytes and data URLs are read at once; those of more than 256 KB on the threads that are given")
    func threads() async throws {
        let stopped = BlockingThreads(name: "stopped", count: 1)
        stopped.stop()
        let pipeline = ImagePipeline {
            ResolveIdentifier(threads: stopped)
            ReadInline(threads: stopped)
        }
        let (short, long) = (262_100, 262_145)
        for source in [ImageSource.bytes([UInt8](repeating: 1, count: short)), .dataURL("data:," + text(short))] {
            #expect(try await pipeline.load(ImageRequest(source)).encoded?.bytes.count == short)
        }
        for source in [ImageSource.bytes([UInt8](repeating: 1, count: long)), .dataURL("data:," + text(long))] {
            // Stopped threads refuse all work.
            await #expect(throws: CancellationError.self) { try await pipeline.load(ImageRequest(source)) }
        }
    }

    private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test("An empty file is read as no bytes")
    func emptyFile() async throws {
        #expect(try await load(.file(Pictures.path("bad/zero-bytes.png"))).encoded?.bytes.isEmpty == true)
    }

    @Test(
        "What can't be read says why",
        arguments: [
            ("/no/such/file.png", LoadError.Code.fileNotFound), ("/etc/passwd/file.png", .fileNotFound),
            ("/tmp", .fileUnreadable), ("/etc/passwd\0.png", .fileNotFound),
            (String(repeating: "x", count: 5000), .fileUnreadable),
        ])
    func unreadable(path: String, code: LoadError.Code) async throws {
        let error = await #expect(throws: LoadError.self) { try await load(.file(path)) }
        #expect(error?.code == code)
        #expect(error?.subject == (path.utf8.contains(0) ? "(a path with a zero byte)" : path))
    }

    @Test("A file with more bytes than allowed is refused; one with just as many is read")
    func tooLarge() async throws {
        let path = Pictures.path("good/webp-lossy.webp")
        #expect(try await load(.file(path), byteLimit: 3848).encoded?.bytes.count == 3848)
        let error = await #expect(throws: LoadError.self) { try await load(.file(path), byteLimit: 3847) }
        #expect(error?.code == .tooManyBytes)
    }

    @Test("A pipe is read to its end, however slowly it is written to")
    func pipe() async throws {
        let pipe = Pipe()
        async let response = load(.file("/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"))
        let picture = try Pictures.bytes("good/jpeg-cmyk-icc.jpg")
        let writer = pipe.fileHandleForWriting
        // On a thread of its own: a pipe holds less than the picture.
        Foundation.Thread.detachNewThread {
            for start in stride(from: 0, to: picture.count, by: 10_000) {
                try? writer.write(contentsOf: Data(picture[start..<min(start + 10_000, picture.count)]))
            }
            try? writer.close()
        }
        #expect(try await response.encoded?.bytes == picture)
    }

    @Test("A file without a length, such as a pipe's end or /proc's, is read to its end")
    func withoutLength() async throws {
        let bytes = try #require(try await load(.file("/proc/self/status")).encoded?.bytes)
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("Name:"))
    }

    @Test(
        "A data URL gives its bytes and its type (RFC 2397)",
        arguments: [
            ("data:,a%20b", nil, "a b"), ("data:text/plain,x", "text/plain", "x"),
            ("data:image/png;base64,aGVsbG8=", "image/png", "hello"),
            ("data:image/png;charset=x;base64,aGVsbG8", "image/png", "hello"),
            ("DATA:IMAGE/PNG;BASE64,aGVsbG8%3D", "image/png", "hello"), ("data:;base64,aGVs%0AbG8=", nil, "hello"),
            ("data:,", nil, ""),
        ] as [(String, String?, String)])
    func dataURL(url: String, type: String?, text: String) async throws {
        let encoded = try #require(try await load(.dataURL(url)).encoded)
        #expect(String(decoding: encoded.bytes, as: UTF8.self) == text)
        #expect(encoded.declaredType == type)
    }

    @Test(
        "A data URL that breaks the rules says what is wrong",
        arguments: ["data:image/png;base64", "data:,%", "data:,%4", "data:,%zz", "data:;base64,a", "data:;base64,a*b$"])
    func brokenDataURL(url: String) async throws {
        let error = await #expect(throws: LoadError.self) { try await load(.dataURL(url)) }
        #expect(error?.code == .invalidURL)
    }

    @Test("Other sources pass: a list without a stage for them ends with notCached")
    func pass() async throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let error = await #expect(throws: LoadError.self) { try await load(.url(url)) }
        #expect(error?.code == .notCached)
    }
}
