import Essentials
import Pipeline
import PipelineTesting
import Testing

@Suite("What a user types as a source")
struct ImageSourceTests {
    @Test(
        "Paths are files",
        arguments: [
            "cat.jpg", "/tmp/cat.jpg", "./a:b.jpg", "C:\\cat.jpg", "two words.jpg", "a?b#c.jpg", "katze-ü.jpg", "-",
            "a//b",
            "not a scheme://x", "mailto:me", "./example.com/cat.jpg", "example.com", "photos/2024.old/cat.jpg",
            "../a.b/c.jpg",
            "v1.2/cat.jpg", ".config/cat.jpg", "/example.com/cat.jpg", "a.b c.de/cat.jpg", "a:b/cat.jpg", "//cat.jpg",
        ])
    func paths(text: String) throws { #expect(try ImageSource(parsing: text) == .file(text)) }

    @Test(
        "file: URLs are files, decoded",
        arguments: [
            ("file:///tmp/cat.jpg", "/tmp/cat.jpg"), ("FILE:///tmp/cat.jpg", "/tmp/cat.jpg"),
            ("file://localhost/tmp/cat.jpg", "/tmp/cat.jpg"), ("file:/tmp/cat.jpg", "/tmp/cat.jpg"),
            ("file:///tmp/two%20words%3F.jpg", "/tmp/two words?.jpg"), ("file:///%C3%BC.jpg", "/ü.jpg"),
            ("file:///a%20b|c", "/a b|c"), ("file:///100%", "/100%"), ("file:///100%%20b", "/100% b"),
        ])
    func files(text: String, path: String) throws { #expect(try ImageSource(parsing: text) == .file(path)) }

    @Test(
        "A file of another machine is not a file of this one, however it is given",
        arguments: ["file://evil.example/etc/hostname", "FILE://evil.example/etc/hostname", "file://127.0.0.2/a"])
    func filesElsewhere(text: String) throws {
        #expect(throws: LoadError.self) { try ImageSource(parsing: text) }
        let url = try #require(URL(string: text))
        #expect(ImageSource(url) == .url(url))
        let error = #expect(throws: LoadError.self) { try ImageSource.check(url) }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("another machine") == true)
    }

    @Test("data: URLs are kept whole", arguments: ["data:,", "data:image/png;base64,AA==", "DATA:,a b://c"])
    func data(text: String) throws { #expect(try ImageSource(parsing: text) == .dataURL(text)) }

    @Test(
        "http, https and s3 URLs are the network's",
        arguments: [
            "http://example.com", "https://example.com/cat.jpg?size=1#x", "HTTPS://EXAMPLE.com/",
            "http://127.0.0.1:8080/a",
            "http://[::1]:8080/cat.jpg", "https://me:secret@example.com/", "http://example.com/ü.jpg",
            "s3://bucket/cat.jpg",
        ])
    func network(text: String) throws {
        let url = try #require(URL(string: text))
        let source = try ImageSource(parsing: text)
        #expect(source == .url(url))
        #expect(source.isRemote)
    }

    @Test(
        "An escape stays what it is, whatever stands next to it",
        arguments: [
            ("http://example.com/a%20b|c", "http://example.com/a%20b%7Cc"),
            ("http://example.com/a?f[]=%20{b}", "http://example.com/a?f%5B%5D=%20%7Bb%7D"),
            ("http://example.com/%E2%82%AC\u{20ac}#a#b", "http://example.com/%E2%82%AC%E2%82%AC#a%23b"),
            ("http://[::1]:8080/[a]?//[b]", "http://[::1]:8080/%5Ba%5D?//%5Bb%5D"),
        ])
    func escapes(text: String, address: String) throws {
        guard case .url(let url) = try ImageSource(parsing: text) else { throw LoadError(.invalidURL, subject: "", "") }
        #expect(url.absoluteString == address)
    }

    @Test(
        "What can't be loaded is refused with what to do",
        arguments: [
            ("", LoadError.Code.invalidURL, "empty"),
            ("http://", .invalidURL, "no host"),
            ("http:///cat.jpg", .invalidURL, "no host"),
            ("https://?x=1", .invalidURL, "no host"),
            ("https://me@/cat.jpg", .invalidURL, "no host"),
            ("http://example.com/two words.jpg", .invalidURL, "percent-encode"),
            ("http://example.com/a\nb", .invalidURL, "percent-encode"),
            ("http://example.com/a\u{7F}", .invalidURL, "percent-encode"),
            ("http://exa mple.com/", .invalidURL, "percent-encode"),
            ("http://[::1/cat.jpg", .invalidURL, "not a URL"),
            ("http://example.com:port/", .invalidURL, "not a URL"),
            ("http://example.com/%zz", .invalidURL, "% that begins no escape"),
            ("http://example.com/100%", .invalidURL, "% that begins no escape"),
            ("http://exam%00ple.com/", .invalidURL, "host"),
            ("http://exam%2Fple.com/", .invalidURL, "host"),
            ("ftp://example.com/cat.jpg", .unsupportedScheme, "\"ftp\""),
            ("javascript://example.com/%0Aalert(1)", .unsupportedScheme, "\"javascript\""),
            ("file://server/cat.jpg", .invalidURL, "another machine"),
            ("file://", .invalidURL, "no path"),
            ("file:", .invalidURL, "no path"),
            ("file:///tmp/cat%00.jpg", .invalidURL, "zero byte"),
            ("cat\0.jpg", .invalidURL, "zero byte"),
            ("file:///two words", .invalidURL, "percent-encode"),
            ("example.com/cat.jpg", .invalidURL, "Begin a URL with https://, and a file's path with ./"),
            ("www.example.com/cat.jpg?token=1", .invalidURL, "without its scheme"),
            ("localhost:8080/cat.jpg", .invalidURL, "without its scheme"),
            ("//cdn.example/cat.jpg", .invalidURL, "without its scheme"),
        ])
    func refused(text: String, code: LoadError.Code, remedy: String) throws {
        let error = try #require(throws: LoadError.self) { try ImageSource(parsing: text) }
        #expect(error.code == code)
        #expect(error.message.contains(remedy), "\(error)")
        #expect(!error.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
    }

    @Test("A host that programs read differently is refused")
    func hostPrograms() throws {
        let error = try #require(throws: LoadError.self) { try ImageSource(parsing: #"http://exam\ple.com/"#) }
        #expect(error.code == .invalidURL)
    }

    @Test("A refused URL shows no credential")
    func refusedURL() throws {
        let error = try #require(throws: LoadError.self) {
            try ImageSource(parsing: "ftp://me:secret@example.com/cat.jpg?token=abc")
        }
        #expect(error.subject == "ftp://…@example.com/cat.jpg?token=…")
        #expect(!error.description.contains("secret"))
    }

    @Test(
        "A URL is told from a file and from data by its scheme",
        arguments: [
            ("https://example.com/a", true), ("file:///a", false), ("data:,a", false),
        ])
    func kinds(text: String, isRemote: Bool) throws {
        #expect(ImageSource(try #require(URL(string: text))).isRemote == isRemote)
    }
}
