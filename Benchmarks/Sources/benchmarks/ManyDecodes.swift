import Foundation
import Pipeline
import ProcessMemory
import Stages

/// Checks that memory stays bounded during a hundred thousand small decodes of many formats, four at a time.
enum ManyDecodes {
    static func run(count: Int = 100_000) async throws {
        let folder = URL(filePath: "Tests/Images/good")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path() < $1.path() }
            .compactMap { try? [UInt8](Data(contentsOf: $0)) }.filter { $0.count < 50_000 }
        let pipeline = ImagePipeline {
            ReadInline()
            Decode()
            Downscale()
        }
        print("\(count) decodes to 100 pixels, of \(files.count) files of every format:")
        let idle = ProcessMemory.resident
        var first = 0.0
        for start in stride(from: 0, to: count, by: 1000) {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        for index in stride(from: start + worker, to: start + 1000, by: 4) {
                            var request = ImageRequest(.bytes(files[index % files.count]))
                            request.maxPixelSize = 100
                            _ = try? await pipeline.load(request)
                        }
                    }
                }
            }
            if start == 0 { first = ProcessMemory.resident }
            if start == 0 || (start + 1000) % (count / 5) == 0 {
                print(String(format: "  after %6d: %.1f MB resident", start + 1000, ProcessMemory.resident))
            }
        }
        let last = ProcessMemory.resident
        print(
            String(
                format: "  idle %.1f MB; at the end %.2f times what it was after the first thousand", idle, last / first
            ))
    }
}
