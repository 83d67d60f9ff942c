import Pipeline
import PipelineImages
import PipelineIsolation
import TestFixtures
import Testing

@Suite("Isolated decoders give the results of those in the process", .onLinux)
struct SameResultsTests {
    /// A result: its numbers and texts in words, and its bytes.
    private struct Outcome: Equatable {
        let words: String
        var bytes: [[UInt8]] = []
    }

    /// All results of a file's decoder, with the codes and messages of its errors.
    private func outcomes(of bytes: [UInt8], _ codecs: ImageCodecs) -> [Outcome] {
        guard let decoder = codecs.codec(of: bytes)?.decoder else { return [] }
        let cancellation = WorkCancellation()
        func attempt(_ body: () throws -> Outcome) -> Outcome {
            do { return try body() } catch let error as LoadError {
                return Outcome(words: "\(error.code): \(error.message)")
            } catch {
                return Outcome(words: "\(error)")
            }
        }
        func decode(_ box: PixelSize?, frames: Int, keepsAll: Bool = false, makesHDR: Bool = false) -> Outcome {
            attempt {
                let header = try decoder.header(of: bytes, cancellation: cancellation)
                guard header.storedSize.width.saturatingTimes(header.storedSize.height) <= 50_000_000 else {
                    return Outcome(words: "bomb")
                }
                var options = DecodeOptions(frames: frames)
                (options.keepsColors, options.keepsDepth, options.keepsGainMap) = (keepsAll, keepsAll, keepsAll)
                (options.keepsHDR, options.makesHDR) = (keepsAll, makesHDR)
                // As `DecodeWork` does, which has to know what comes.
                let kept = header.keeping(options)
                let image = try decoder.picture(
                    of: bytes, header: kept, box: box, options: options, cancellation: cancellation)
                #expect(kept.keeping(options) == kept)
                return Outcome(
                    words:
                        "\(image.size) \(image.nativeSize) \(image.layout) \(image.frames.map(\.delay)) \(image.loopCount)",
                    bytes: image.frames.map(\.bytes) + [image.gainMap?.pixels ?? []])
            }
        }
        func block(_ body: () throws -> EmbeddedMetadata) -> Outcome {
            attempt {
                let found = try body()
                return Outcome(
                    words: "metadata \(String(describing: found.mastering))",
                    bytes: [found.exif, found.xmp, found.profile])
            }
        }
        var all = [
            attempt { Outcome(words: "\(try decoder.header(of: bytes, cancellation: cancellation))") },
            attempt { Outcome(words: "\(try ImageMetadata.reading(bytes, by: decoder, cancellation))") },
            decode(nil, frames: 1), decode(100, frames: 5), decode(nil, frames: 1, keepsAll: true),
            decode(100, frames: 1, keepsAll: true), decode(100, frames: 1, keepsAll: true, makesHDR: true),
            block { try decoder.metadata(of: bytes, cancellation: cancellation) },
        ]
        for kept in KeptMetadata.allCases where kept != .none {
            all.append(
                block { try kept.blocks(of: bytes, by: decoder, for: 50, isGray: false, cancellation) })
        }
        let keeping = StrippedMetadata(isLocation: false, keepsProvenance: true)
        for metadata in [StrippedMetadata.all, .location, keeping] {
            all.append(
                attempt {
                    Outcome(words: "stripped", bytes: [try codecs.stripped(bytes, of: metadata, cancellation)])
                })
        }
        return all
    }

    @Test("For all good and bad images of the tests, and the inputs of the fuzz targets")
    func corpus() async throws {
        let pool = try await Corpus.pool(workers: 1)
        let isolated = try ImageCodecs.standard.isolated(in: pool)
        let files =
            try Corpus.files("good") + Corpus.files("bad") + Corpus.files("generated") + Corpus.fuzzed()
        #expect(files.count > 300)
        for (name, bytes) in files {
            let (here, there) = (outcomes(of: bytes, .standard), outcomes(of: bytes, isolated))
            for (one, other) in zip(here, there) {
                #expect(one.words == other.words, "\(name)")
                #expect(one.bytes == other.bytes, "\(name)")
            }
        }
        #expect(pool.statistics.deaths == 0)
        #expect(
            pool.statistics.refusedCalls == 0,
            "call \(pool.statistics.lastRefusedCall): a decoder makes calls that the filter doesn't allow")
        await pool.close()
    }

    @Test("For a thousand generated images")
    func generated() async throws {
        let pool = try await Corpus.pool(workers: 1)
        let isolated = try ImageCodecs.standard.isolated(in: pool)
        var random = SystemRandomNumberGenerator()
        let formats: [ImageFormat] = [.jpeg, .png, .webp, .gif, .tiff, .jpeg, .png, .webp, .gif, .avif]
        for number in 0..<1000 {
            let size = PixelSize(
                width: .random(in: 1...90, using: &random), height: .random(in: 1...90, using: &random))
            let channels = [1, 3, 4][number % 3]
            let layout = try #require(PixelLayout.known(channelCount: channels))
            let pixels = (0..<size.width * size.height * channels).map { UInt8(truncatingIfNeeded: $0 &* number >> 3) }
            let image = DecodedImage(size: size, layout: layout, pixels: pixels)
            let format = formats[number % formats.count]
            let bytes = try await EncodedImage(encoding: image, as: format).bytes
            #expect(outcomes(of: bytes, .standard) == outcomes(of: bytes, isolated), "\(format) \(size)")
        }
        #expect(pool.statistics.deaths == 0)
        #expect(pool.statistics.refusedCalls == 0, "call \(pool.statistics.lastRefusedCall)")
        await pool.close()
    }
}
