import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("Hostile and damaged files give an error or an honest picture")
struct BadImagesTests {
    @Test("Every bad file ends as the manifest says")
    func everyBadFile() async throws {
        let rows = try SampleImage.manifest("bad")
        #expect(rows.count == 14)
        for row in rows {
            let expected = row.columns[7]
            do {
                let image = try await SampleImage.decode(try Pictures.bytes("bad/\(row.name)"))
                #expect(expected == "decodes" || expected.hasPrefix("either"), "\(row.name) gave \(image.size)")
            } catch let error as LoadError {
                #expect(expected != "decodes", "\(row.name): \(error)")
                #expect(
                    [.undecodable, .unsupportedType, .tooManyPixels].contains(error.code), "\(row.name): \(error.code)")
                if expected == "pixel-limit" { #expect(error.code == .tooManyPixels, "\(row.name)") }
                #expect(!error.message.isEmpty && !error.message.contains("\n"))
                #expect(error.stage == "Decode")
            }
        }
    }

    @Test("A page of HTML and an empty file are named for what they are")
    func named() async throws {
        let page = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(try Pictures.bytes("bad/html-served-as-image.jpg"))
        }
        #expect(page.message.contains("<!DOCTYPE"))
        let empty = try await #require(throws: LoadError.self) { try await SampleImage.decode([]) }
        #expect(empty.code == .undecodable)
        #expect(empty.message.contains("empty"))
    }

    @Test("A kind of TIFF that nothing here reads is not called damaged")
    func unreadKind() async throws {
        // Width, height, bits, compression, photometric, strip, samples, rows, bytes: CIELAB as faxes have it.
        let tags = [(256, 2), (257, 1), (258, 8), (259, 1), (262, 10), (273, 122), (277, 1), (278, 1), (279, 3)]
        var file: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, UInt8(tags.count), 0]
        for (tag, value) in tags {
            file += [UInt8(tag & 255), UInt8(tag >> 8), 3, 0, 1, 0, 0, 0, UInt8(value), 0, 0, 0]
        }
        file += [0, 0, 0, 0, 1, 2, 3]
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(file) }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains("save it as another"))
    }

    @Test("Any good file that is cut off anywhere gives an error or a picture of its size")
    func cutOff() async throws {
        for (name, bytes) in try smallGoodFiles() {
            let size = try? await SampleImage.decode(bytes).size
            for part in 1..<12 {
                let cut = Array(bytes.prefix(bytes.count * part / 12))
                for stage in [Decode(), Decode(allowTruncated: true)] {
                    guard let image = await outcome(of: cut, stage, name) else { continue }
                    #expect(image.size == size, "\(name) cut at \(cut.count)")
                }
            }
        }
    }

    @Test("Any good file with damaged bytes gives an error or a picture")
    func damaged() async throws {
        // A fixed seed: what fails once fails again.
        var random = SeededGenerator(seed: 2024)
        for (name, bytes) in try smallGoodFiles() {
            for _ in 0..<12 {
                var damaged = bytes
                for _ in 0..<8 {
                    damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                _ = await outcome(of: damaged, Decode(limits: ImageLimits(pixels: 2_000_000)), name)
            }
        }
    }

    private func smallGoodFiles() throws -> [(String, [UInt8])] {
        try SampleImage.manifest("good").map { ($0.name, try Pictures.bytes("good/\($0.name)")) }
            .filter { $0.1.count < 200_000 }
    }

    /// The picture, or nothing after an error of the kind that is promised.
    private func outcome(of bytes: [UInt8], _ stage: Decode, _ name: String) async -> DecodedImage? {
        do {
            return try await SampleImage.decode(bytes, with: stage)
        } catch let error as LoadError {
            #expect([.undecodable, .unsupportedType, .tooManyPixels].contains(error.code), "\(name): \(error)")
        } catch {
            Issue.record("\(name): \(error)")
        }
        return nil
    }
}
