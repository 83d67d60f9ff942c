import CEscapes
import Essentials
import LibC
import Pipeline
import PipelineImages
import PipelineIsolation
import PipelineTesting

/// What tests run in a program of its own, since it is killed or counts its processes and descriptors.
enum Trial {
    /// Decodes until the program is killed.
    static func hold() -> Never {
        Task.detached {
            let pool = try await DecoderPool(workers: 2, helper: CommandLine.arguments[0])
            let codec = ImageCodec(EscapingDecoder.format, extensions: [], decoder: EscapingDecoder()) { _ in true }
            let codecs = try ImageCodecs([codec]).isolated(in: pool)
            async let first = DecodedImage(decoding: Array("escape loop 1".utf8), codecs: codecs)
            async let second = DecodedImage(decoding: Array("escape loop 2".utf8), codecs: codecs)
            _ = try await (first, second)
        }
        while true { pause() }
    }

    /// Decodes files, kills a worker at random every 50, and prints what is wrong at the end.
    static func kills(_ words: [String]) -> Never {
        Task.detached {
            do {
                let codecs = ImageCodecs.standard
                let files = words.dropFirst().compactMap { try? [UInt8](Data(contentsOf: URL(filePath: $0))) }
                    .filter { $0.count < 100_000 && codecs.codec(of: $0) != nil }
                var expected: [DecodedImage] = []
                for file in files { expected.append(try await DecodedImage(decoding: file, maxPixelSize: 100)) }
                let descriptors = count("/proc/self/fd")
                let (wrong, growth) = try await decode(files, expected, count: Int(words[0]) ?? 0)
                print(
                    "\(wrong) wrong, \(children(of: getpid()).count) processes left, "
                        + "\(count("/proc/self/fd") - descriptors) descriptors left, "
                        + (growth < 20 + quarantine ? "no memory" : "\(growth) MB left"))
                exit(0)
            } catch {
                print(error)
                exit(1)
            }
        }
        while true { pause() }
    }

    /// Prints what confines a worker of a policy's pool on a system that forbids some calls, and decodes a picture there.
    static func confinement(_ words: [String]) -> Never {
        for call in words.dropFirst(2) where cescapes_forbid(call) != 0 {
            print("\(call) can't be forbidden")
            exit(1)
        }
        Task.detached {
            do {
                let pool = try await DecoderPool(
                    workers: 1, confinement: ConfinementPolicy(rawValue: words[0]) ?? .required,
                    helper: CommandLine.arguments[0])
                let bytes = [UInt8](try Data(contentsOf: URL(filePath: words[1])))
                let codecs = try ImageCodecs.standard.isolated(in: pool)
                let image = try await DecodedImage(decoding: bytes, codecs: codecs)
                let missing = Confinement.required.subtracting(pool.confinement)
                print("\(image.size), missing: \(missing)")
                await pool.close()
            } catch {
                print(error)
            }
            exit(0)
        }
        while true { pause() }
    }

    /// Decodes hostile files at 300 pixels, then files that destroy their worker's memory. Prints how many workers died, and
    /// whether the program had less than 50 MB at most above what it had before.
    static func hostile(_ words: [String]) -> Never {
        Task.detached {
            do {
                let clock = ManualClock()
                let pool = try await DecoderPool(workers: 1, helper: CommandLine.arguments[0], clock: clock)
                let escaping = ImageCodec(EscapingDecoder.format, extensions: [], decoder: EscapingDecoder()) {
                    $0.starts(with: "escape ".utf8)
                }
                let codecs = try ImageCodecs.known.adding(escaping).isolated(in: pool)
                let destructive = ["crash", "smash", "overwrite", "large"].map { Array("escape \($0) ".utf8) }
                var (loads, slowest, idle) = (0, 0.0, 0)
                for path in words + Array(repeating: "", count: 40) {
                    let bytes =
                        path.isEmpty
                        ? destructive[loads % 4] + [UInt8(loads & 255)]
                        : [UInt8](try Data(contentsOf: URL(filePath: path)))
                    let start = SystemClock().uptimeNanoseconds
                    _ = try? await DecodedImage(decoding: bytes, maxPixelSize: 300, codecs: codecs)
                    slowest = max(slowest, Double(SystemClock().uptimeNanoseconds - start) / 1e9)
                    loads += 1
                    // So that no third death is within a minute, which would pause until somebody moves the clock. Under a
                    // sanitizer some files cost their worker too.
                    clock.advance(by: .seconds(61))
                    // The first few loads make what every program that decodes has.
                    if loads == 20 { idle = restartedPeak() }
                }
                let growth = (memory("VmHWM") - idle) / 1024
                print(
                    "\(loads) loads, \(pool.statistics.deaths) deaths, "
                        + "\(growth < 50 + quarantine ? "under" : "\(growth), over") 50 MB, "
                        + "\(slowest < 30 ? "in" : "beyond") time")
                await pool.close()
            } catch {
                print(error)
            }
            exit(0)
        }
        while true { pause() }
    }

    /// How many MB of freed memory AddressSanitizer keeps, at most.
    private static var quarantine: Int {
        #if SANITIZE
        300
        #else
        0
        #endif
    }

    /// Restarts the measurement of this process's peak; returns the memory now, in KB.
    private static func restartedPeak() -> Int {
        // 5 resets the peak (proc(5)).
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        return memory("VmRSS")
    }

    private static func memory(_ field: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
        return line.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }

    /// Returns how many pictures were wrong, and by how many MB the program has grown since the first hundred.
    private static func decode(
        _ files: [[UInt8]], _ expected: [DecodedImage], count: Int
    ) async throws -> (wrong: Int, growth: Int) {
        let pool = try await DecoderPool(workers: 2, helper: CommandLine.arguments[0])
        let codecs = try ImageCodecs.standard.isolated(in: pool)
        var (wrong, memory) = (0, 0)
        for number in 0..<count {
            if number == 100 { memory = self.memory("VmRSS") }
            if number % 50 == 49, let helper = pool.helperProcess, let victim = children(of: helper).randomElement() {
                kill(victim, SIGKILL)
            }
            let index = number % files.count
            let image = try await DecodedImage(decoding: files[index], maxPixelSize: 100, codecs: codecs)
            if image.frames != expected[index].frames { wrong += 1 }
        }
        await pool.close()
        return (wrong, (self.memory("VmRSS") - memory) / 1024)
    }

    private static func count(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? -1
    }

    private static func children(of process: Int32) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { Int32($0) }.filter { number in
            // The parent is the second word after the name.
            let text = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ""
            let words = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
            return words.count > 2 && Int32(words[2]) == process
        }
    }
}
