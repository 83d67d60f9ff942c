import Foundation
import TestFixtures
import Testing

@Suite("One bad file in a batch")
struct OneBadFileTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "in/good.jpg")
    }

    @Test("is a failure of its own, whatever is wrong with it")
    func all() async throws {
        for (index, name) in ["good/webp-lossy.webp", "good/webp-lossless.webp", "good/webp-animated.webp"].enumerated()
        {
            let bytes = try Pictures.bytes(name)
            for length in 0...48 {
                try Data(bytes.prefix(length)).write(
                    to: pipectl.folder.appending(path: "in/cut\(index)-\(length).webp"))
            }
        }
        for (name, isInterlaced) in [("plain", false), ("interlaced", true)] {
            try hugePNG(isInterlaced).write(to: pipectl.folder.appending(path: "in/huge-\(name).png"))
        }
        let result = try await pipectl.shell(
            """
            : >in/empty.jpg; echo text >in/text.png; mkfifo in/pipe.jpg; mkdir in/folder.jpg; ln -s folder.jpg in/link.jpg
            ln -s nothing in/dangling.png; ln -s loop.gif in/loop.gif; ln -s /dev/zero in/zero.jpg
            printf '<svg xmlns="http://www.w3.org/2000/svg"/>' >in/drawing.svg; printf '\\377\\012' >in/x.jxl
            printf '\\211PNG\\r\\n\\032\\n' >in/head.png; printf 'GIF89a' >in/head.gif; printf 'BM' >in/b.bmp
            printf 'II*\\0' >in/t.tif; printf '\\0\\0\\0\\030ftypavif' >in/a.avif
            cp in/good.jpg "in/$(printf '%0250d' 7).jpg"
            pipectl batch in -r -s 8 -o out
            """)
        #expect(result.status == 1)
        #expect(result.text.contains("2 done, "), "\(result.text.suffix(300))")
        #expect(!result.text.contains("left"))
    }

    /// A PNG whose header promises the most pixels that one can.
    private func hugePNG(_ isInterlaced: Bool) -> Data {
        var chunk = Array("IHDR".utf8) + [0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 16, 6, 0, 0]
        chunk.append(isInterlaced ? 1 : 0)
        var sum: UInt32 = 0xffff_ffff
        for byte in chunk {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        sum = ~sum
        let check = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> UInt32($0)) }
        return Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + chunk + check + [0, 0, 0, 0])
    }

    @Test("a folder that can't be read, and a pattern that nothing fits, fail alone")
    func listing() async throws {
        let result = try await pipectl.shell(
            "pipectl batch 'none*.jpg' in /proc/1/nothing --recursive -s 8 -o out; pipectl batch in -o out --files0-from none"
        )
        #expect(result.text.contains("1 done, 2 failed"), "\(result.text) \(result.errors)")
        #expect(result.errors.contains("No file fits the pattern."))
        #expect(result.status == 1)
    }

    @Test("images are taken by their bytes where their names say nothing")
    func byBytes() async throws {
        let result = try await pipectl.shell(
            """
            cp in/good.jpg in/bare; cp in/good.jpg in/x.mpo; echo text >in/readme
            pipectl batch in -s 8 -o out; ls out; pipectl thumb in/bare -s 8; ls in
            """)
        #expect(result.text.contains("3 done"))
        #expect(result.lines.contains("bare.jpg") && result.lines.contains("x.mpo"), "\(result.text)")
        #expect(result.lines.contains("bare-8x6.jpg"), "\(result.text)")
    }

    @Test("a WebP that ends within its header has no size to show")
    func cutHeader() async throws {
        for length in [20, 25, 29, 31, 39] {
            let bytes = try Pictures.bytes("good/webp-lossy.webp").prefix(length)
            try Data(bytes).write(to: pipectl.folder.appending(path: "cut.webp"))
            let result = try await pipectl.run("info", "cut.webp")
            #expect(!result.text.contains("4294967295"), "\(length)")
        }
    }
}
