import ArgumentParser
import Pipeline
import SourceVersion
import Stages

#if Isolation
import PipelineIsolation
#endif

/// Checks what this machine has and what it lacks.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "doctor", "Check libraries, codecs, limits and the cache.",
        """
        Each codec is tried with a small image. With --shared it sends each command that a member needs, publishes a \
        message and waits for it, and checks clock, eviction and persistence. What to change is printed. Exit status: \
        1 if something is wrong.

        Examples:
          \(Program.name) doctor
          \(Program.name) doctor --json
          \(Program.name) doctor --shared redis://cache.internal --blobs s3://images/fleet
        """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Sources and cache") var shared: SharedOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func run() async throws {
        let libraries = Library.all.map {
            DoctorFinding("library", $0.name, $0.version ?? "missing", $0.version != nil)
        }
        let codecs = await CodecTrial.all()
        let health = await [confinement, cacheHealth] + shared.findings() + [settings]
        let version = DoctorFinding("version", Program.name, SourceVersion.text, true)
        let findings = [version] + libraries + codecs + limits + health
        for finding in findings where report.json || !report.quiet || !finding.isWell {
            finding.report.write(asJSON: report.json)
        }
        if findings.contains(where: { !$0.isWell }) { throw ExitCode(1) }
    }

    /// Whether the user's settings can be read, and those that the doctor itself uses are valid.
    private var settings: DoctorFinding {
        do {
            let settings = try Settings()
            _ = try Pipectl.parseAsRoot(settings.applied(to: ["doctor"]))
            return DoctorFinding("settings", Settings.path, "\(settings.values.count) set", true)
        } catch {
            return DoctorFinding("settings", Settings.path, Pipectl.message(for: error), false)
        }
    }

    private var limits: [DoctorFinding] {
        let limits = ImageLimits()
        let blocked = ImageCodecs.known.codecs.map(\.format)
            .filter { Formats.codecs.codec(for: $0) == nil }.map { $0.name + "; " }.joined()
        return [
            DoctorFinding(
                "blocked", "loaders", blocked + "all that only ImageMagick, Poppler and others read", true),
            DoctorFinding("limit", "pixels", "\(limits.pixels)", true),
            DoctorFinding("limit", "bytes", "\(limits.encodedBytes)", true),
            DoctorFinding("limit", "frames", "\(FramesArgument.all), as far as the pixels allow", true),
            DoctorFinding("limit", "threads", "\(BlockingThreads.decoding.count)", true),
        ]
    }

    /// What confines decoders on this machine, and whether that is enough for SVG, JPEG XL and --isolate.
    private var confinement: DoctorFinding {
        get async {
            await DoctorFinding("isolate", "decoders") {
                #if Isolation
                let present = try await BlockingThreads.files.run { _ in try DecodingProcesses.pool.pool().confinement }
                let missing = Confinement.required.subtracting(present)
                return ("confined by: \(present)" + (missing.isEmpty ? "" : "; missing: \(missing)"), missing.isEmpty)
                #else
                return ("built without the trait Isolation", true)
                #endif
            }
        }
    }

    private var cacheHealth: DoctorFinding {
        get async {
            await DoctorFinding("cache", cache.folder) {
                guard let responses = try await cache.existing() else { return ("none yet", true) }
                let statistics = try await responses.statistics()
                let found = try await responses.verify()
                await responses.close()
                let state =
                    found.isSound
                    ? "sound" : "\(found.findings.count) findings; run \(Program.name) cache verify --repair"
                let size = "\(statistics?.entries ?? 0) responses, \(ByteCount.text(statistics?.bytes ?? 0))"
                return ("\(size), \(state)", found.isSound)
            }
        }
    }
}
