import Pipeline
import Testing

@Suite("URLs as errors and logs may show them")
struct RedactionTests {
    @Test(
        "User info, query values and the fragment are hidden, the rest is shown",
        arguments: [
            ("https://example.com/cat.jpg", "https://example.com/cat.jpg"),
            ("https://example.com:8443/cat.jpg", "https://example.com:8443/cat.jpg"),
            ("https://[2001:db8::1]:80/cat.jpg", "https://[2001:db8::1]:80/cat.jpg"),
            ("https://[2001:db8::1]", "https://[2001:db8::1]"),
            ("https://me@example.com/", "https://…@example.com/"),
            ("https://me:secret@example.com/", "https://…@example.com/"),
            ("https://me:s@cret@example.com/", "https://…@example.com/"),
            ("https://me:secret@example.com", "https://…@example.com"),
            ("https://me:secret@[::1]:80/x", "https://…@[::1]:80/x"),
            ("https://example.com/@me/cat.jpg", "https://example.com/@me/cat.jpg"),
            ("https://example.com/a?user=me@home", "https://example.com/a?user=…"),
            ("https://example.com/a?token=secret", "https://example.com/a?token=…"),
            ("https://example.com/a?token=secret&b=&c=secret", "https://example.com/a?token=…&b=…&c=…"),
            ("https://example.com/a?token=sec=ret", "https://example.com/a?token=…"),
            ("https://example.com/a?secret", "https://example.com/a?…"),
            ("https://example.com/a?x=1?secret=2", "https://example.com/a?x=…"),
            ("https://example.com?token=secret", "https://example.com?token=…"),
            ("https://example.com/a#secret", "https://example.com/a"),
            ("https://example.com/a?b=1#secret", "https://example.com/a?b=…"),
            ("https://example.com:secret", "https://…"),
            ("https://me:sec?ret@example.com/", "https://…"),
            ("https://me:sec#ret@example.com/", "https://…"),
            ("https://me:sec/ret@example.com/", "https://…"),
            ("", ""),
            ("cat.jpg", "cat.jpg"),
        ])
    func table(url: String, shown: String) { #expect(redactedURL(url) == shown) }

    @Test(
        "What is hidden once stays as it is",
        arguments: [
            "https://…@example.com/cat.jpg?token=…&b=…", "https://…", "https://example.com/a?…",
        ])
    func again(shown: String) { #expect(redactedURL(shown) == shown) }

    @Test("Control characters can't begin a new line nor colour a terminal")
    func controlCharacters() {
        #expect(
            redactedURL("https://example.com/\nroot: logged in\u{1B}[31m")
                == "https://example.com/%0Aroot: logged in%1B[31m")
        #expect(ImageSource.file("/a\nb\u{7F}").redacted == "/a%0Ab%7F")
        #expect(!ImageSource.dataURL("data:\u{1B}[31m,x").redacted.contains("\u{1B}"))
    }

    @Test("Bytes in memory and data URLs are described, not shown")
    func describedBytes() {
        #expect(ImageSource.bytes([1, 2, 3]).redacted == "(3 bytes in memory)")
        let data = "data:image/png;base64," + String(repeating: "A", count: 1000)
        #expect(ImageSource.dataURL(data).redacted == "data:image/png;base64,AA… (1022 characters)")
    }
}
