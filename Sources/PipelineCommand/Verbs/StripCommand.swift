import ArgumentParser
import Pipeline
import Stages

/// Removes metadata from files without re-encoding them.
struct StripCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "strip", "Remove metadata without re-encoding.",
        """
        Takes JPEG, PNG and WebP files. The coded pixels stay the same, byte for byte, in animations too. The \
        colour profile is kept, and so is an orientation other than upright, so the image looks the same. EXIF, \
        XMP, IPTC, comments, text, dates, previews and second images such as gain maps are removed. --gps removes \
        only the GPS position, and second images, which may contain it too. XMP that contains a position is \
        removed as a whole. What isn't a position stays: names of countries and cities in IPTC, and makers' \
        fields such as whether a camera's clock is set to home or abroad.

        Manifests of provenance (C2PA, Content Credentials) are removed too, also with --gps, since they may contain \
        the position and earlier images. --keep provenance keeps them. They are signed for all other bytes of the \
        file: if there is nothing else to remove, the file stays as it is and they stay valid. Otherwise they are \
        no longer valid, and a warning says so. An address of manifests in XMP goes with the XMP.

        Examples:
          \(Program.name) strip photo.jpg -o clean.jpg
          \(Program.name) strip *.jpg --in-place
          \(Program.name) strip album/*.jpg --gps -o 'shared/{name}.{ext}'
          \(Program.name) strip signed.jpg --keep provenance -o clean.jpg
        """)

    @Argument(help: ArgumentHelp("Files, or - for standard input.", valueName: "in"), completion: .images)
    var inputs: [String]

    @Flag(help: "Remove only the GPS position. Other metadata is kept.") var gps = false

    /// What `--keep` names.
    enum Kept: String, ExpressibleByArgument, CaseIterable { case provenance }

    @Option(help: ArgumentHelp("Keep manifests of provenance (C2PA).", valueName: "provenance"))
    var keep: Kept?

    @OptionGroup(title: "Output") var destination: DestinationOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var time: TimeLimitOptions
    @OptionGroup(title: "Sources and cache") var isolation: IsolationOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        try inputs.checkStandardInput()
        try report.check(writesResult: OutputPlanner.isStandardOutput(destination.output))
    }

    func run() async throws {
        let planner = try OutputPlanner(
            output: destination.output, inPlace: destination.inPlace, format: nil, inputs: inputs.count)
        let jobs = try await planner.jobs(inputs)
        let reporter = WorkReporter(report)
        let metadata = StrippedMetadata(isLocation: gps, keepsProvenance: keep == .provenance)
        let limits = time.limits
        DecodingProcesses.begin(limits)
        let run = WorkRun(
            render: { source, job, targets in
                try await job.naming { try await Self.render(source, job, targets, metadata, limits, reporter) }
            }, rule: destination.inPlace ? .overwrite : overwrite.rule, stopsAtFailure: running.failFast,
            width: running.width, limits: limits, report: { reporter.report($0) })
        try await run.carryOut(jobs, in: planner.root, running, reporter) { native, targets in
            targets.map { ($0, native) }
        }
    }

    private static func render(
        _ source: ImageSource, _ job: Job, _ targets: [OutputTarget], _ metadata: StrippedMetadata,
        _ limits: ImageLimits, _ reporter: WorkReporter
    ) async throws -> [Rendering] {
        guard !source.isRemote else {
            throw LoadError(
                .unsupportedScheme, subject: job.shown,
                "strip takes files. For a URL: \(Program.name) fetch URL -o - | \(Program.name) strip - -o OUT.")
        }
        let response = try await source.response()
        let bytes = response.encoded?.bytes ?? []
        let time = WorkTime(limit: limits.time)
        let found = try await ImageMetadata(of: bytes, codecs: Formats.codecs, limits: limits, time: time)
        let stripped = try await Formats.codecs.stripped(bytes, of: metadata, within: time)
        let provenance = ProvenanceOutcome(
            of: found, isKept: metadata.keepsProvenance, isUnchanged: stripped == bytes)
        if let text = provenance?.warning(of: metadata) { reporter.warn(text, of: job) }
        // A JPEG's map is a picture after the first one.
        if found.format == .jpeg, found.gainMap?.size != nil { reporter.warn(GainMapDescription.dropped, of: job) }
        return try targets.map { target in
            if case .standardOutput = target.destination {
            } else if target.format != found.format {
                throw LoadError(
                    .unencodable, subject: job.shown,
                    "strip writes \(found.format.name), and the output is named as \(target.format.name).")
            }
            let image = EncodedImage(
                bytes: stripped, declaredType: found.format.rawValue, size: found.size, nativeSize: found.size)
            return Rendering(target: target, image: image, response: response, provenance: provenance)
        }
    }
}

extension ProvenanceOutcome {
    /// The warning about a stripped file; `nil` if its provenance is as the user expects.
    fileprivate func warning(of metadata: StrippedMetadata) -> String? {
        switch self {
        case .broken:
            "The manifest of provenance (C2PA) is kept, but it isn't valid any more: other bytes of the file changed, and it is signed for them."
        case .removed where metadata.isLocation:
            "The manifest of provenance (C2PA) is removed too, since it may contain the position. --keep provenance keeps it."
        case .kept, .removed: nil
        }
    }
}
