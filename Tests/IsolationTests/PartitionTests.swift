import Pipeline
import PipelineImages
import PipelineTesting
import Testing

@testable import PipelineIsolation

@Suite("Workers of a pool that keeps partitions apart")
struct PartitionTests {
    private let png = Picture.png(PixelSize(square: 3))

    private func load(_ partition: String?, _ codecs: ImageCodecs) async throws {
        let list = ImagePipeline {
            ReadInline()
            CheckHeader(codecs: codecs)
            Decode()
        }
        _ = try await list.load(ImageRequest(.bytes(png), partition: partition))
    }

    @Test(
        "see images of one partition alone, none being one too",
        arguments: [(1, [1, 1, 2, 3, 4]), (2, [1, 1, 2, 2, 3])])
    func apart(workers: Int, started: [Int]) async throws {
        let pool = try await DecoderPool(
            workers: workers, helper: Corpus.helper("pipeline-decoder"), separatesPartitions: true)
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        for (partition, started) in zip(["a", "a", "b", "a", nil], started) {
            try await load(partition, codecs)
            #expect(pool.statistics.started == started)
        }
        await pool.close()
    }

    @Test("are shared in a pool that doesn't")
    func together() async throws {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        for partition in ["a", "b", nil] { try await load(partition, codecs) }
        #expect(pool.statistics.started == 1)
        await pool.close()
    }
}
