import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@Suite("What a source is known by")
struct SourceKeyTests {
    private func key(
        _ url: String = "https://example.com/cat.jpg", _ change: (inout ImageRequest) -> Void = { _ in }
    ) throws -> SourceKey {
        var request = try ImageRequest.at(url)
        change(&request)
        return try #require(SourceKey(request))
    }

    @Test(
        "The fragment, and the case of scheme and host, make no difference",
        arguments: [
            ("https://example.com/cat.jpg", "https://example.com/cat.jpg#top"),
            ("https://example.com/cat.jpg", "HTTPS://EXAMPLE.com/cat.jpg"),
            ("https://example.com/cat.jpg?q=A#x", "https://Example.Com/cat.jpg?q=A"),
            ("https://me:Secret@example.com/", "https://me:Secret@EXAMPLE.com/"),
            ("https://example.com?Q=1", "https://EXAMPLE.COM?Q=1"),
            ("https://[2001:db8::a]/Cat", "https://[2001:DB8::A]/Cat"),
        ])
    func same(first: String, second: String) throws { #expect(try key(first) == key(second)) }

    @Test(
        "Everything else in a URL makes another source",
        arguments: [
            ("https://example.com/cat.jpg", "https://example.com/Cat.jpg"),
            ("https://example.com/?q=a", "https://example.com/?q=A"),
            ("https://example.com?q=a", "https://example.com?q=A"),
            ("https://example.com/", "https://example.com/?"),
            ("https://example.com/cat.jpg", "http://example.com/cat.jpg"),
            ("https://example.com/cat.jpg", "https://example.org/cat.jpg"),
            ("https://example.com/cat.jpg", "https://example.com:8443/cat.jpg"),
            ("https://Me@example.com/", "https://me@example.com/"),
            ("https://me:Secret@example.com/", "https://me:secret@example.com/"),
            ("https://example.com/a%2Fb", "https://example.com/a/b"),
            ("https://example.com/a@B", "https://example.com/a@b"),
            ("https://example.com/a//B", "https://example.com/a//b"),
        ])
    func different(first: String, second: String) throws { #expect(try key(first) != key(second)) }

    @Test("Another partition, Authorization or identifier makes another source")
    func anotherPartition() throws {
        let keys = try [
            key(),
            key { $0.partition = "tenant" },
            key { $0.partition = "" },
            key { $0.identifier = "cat" },
            key { $0.identifier = "" },
            key { $0.headers[.authorization] = "Bearer a" },
            key { $0.headers[.authorization] = "Bearer b" },
            key {
                $0.identifier = "cat"
                $0.partition = "tenant"
            },
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test("No choice of identifier and partition can imitate another's")
    func choiceIdentifier() throws {
        let keys = try [
            key { $0.identifier = "a\0partition\0b" },
            key {
                $0.identifier = "a"
                $0.partition = "b"
            },
            key {
                $0.identifier = "a"
                $0.partition = "b\0authorization\0c"
            },
            key {
                $0.identifier = "a"
                $0.partition = "b"
                $0.headers[.authorization] = "c"
            },
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test("Bytes that end like a partition are not that partition's")
    func bytesEnd() throws {
        // What a partition adds to the text that is digested: a word that says so, a length and the partition.
        let ending = [6, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0] + Array("tenant".utf8)
        let plain = ImageRequest(.bytes(Array("cat".utf8) + ending))
        let partitioned = ImageRequest(.bytes(Array("cat".utf8)), partition: "tenant")
        #expect(SourceKey(plain) != SourceKey(partitioned))
    }

    @Test("An identifier replaces the URL, whatever the URL's query")
    func identifierReplaces() throws {
        #expect(
            try key("https://example.com/cat?token=1") { $0.identifier = "cat" }
                == key("https://cdn.example.com/cat?token=2") { $0.identifier = "cat" })
    }

    @Test("Other headers, the size, the priority and the expiry leave the source what it is")
    func otherHeaders() throws {
        let plain = try key()
        #expect(try key { $0.headers[.accept] = "image/webp" } == plain)
        #expect(try key { $0.maxPixelSize = 300 } == plain)
        #expect(try key { $0.priority = .high } == plain)
        #expect(try key { $0.expiry = .never } == plain)
    }

    @Test("A file is known by its path and its stamp, and by nothing without one")
    func fileKnown() throws {
        let cat = ImageRequest(.file("/cat.jpg"))
        #expect(SourceKey(cat) == nil)
        let keys = try [
            #require(SourceKey(cat, stamp: "1")),
            #require(SourceKey(cat, stamp: "2")),
            #require(SourceKey(ImageRequest(.file("/dog.jpg")), stamp: "1")),
            #require(SourceKey(ImageRequest(.file("/cat.jpg"), identifier: "cat"))),
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test("Kinds of sources never share a key, even with the same text")
    func kindsSources() throws {
        let text = "data:image/png,cat"
        let keys = try [
            #require(SourceKey(ImageRequest(.dataURL(text)))),
            #require(SourceKey(ImageRequest(.bytes(Array(text.utf8))))),
            #require(SourceKey(ImageRequest(.file(text)), stamp: "")),
            #require(SourceKey(ImageRequest(.file("x"), identifier: text))),
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test("It prints as 64 hexadecimal digits and comes back from its digest's bytes")
    func prints64() throws {
        let key = try key()
        #expect(key.description.count == 64)
        #expect(SourceKey(digest: try #require(BLAKE2bDigest(bytes: key.digest.bytes))) == key)
    }
}
