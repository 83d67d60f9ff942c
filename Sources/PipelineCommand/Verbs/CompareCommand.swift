import ArgumentParser
import Pipeline
import Stages

/// Measures how similar two images are.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "compare", "Measure how similar two images are.",
        """
        Compares the first frames, upright and in sRGB. If one has transparency, both are compared over black and \
        over white, and the lower values count. PSNR covers red, green and blue together, in dB. SSIM is that of \
        the luma (BT.709), in a Gaussian window of 11x11, after Wang et al. 2004. -o writes a picture of the \
        differences: the first image in faded grey, with red where the second one differs.

        Exit status: 0 compared, 1 below --min-psnr or --min-ssim, 2 not compared, such as images of different sizes.

        Examples:
          \(Program.name) compare photo.png photo.avif
          \(Program.name) compare before.png after.png --min-psnr 40 --min-ssim 0.98
          \(Program.name) compare photo.jpg thumbnail.jpg --scale -o difference.png
        """)

    @Argument(help: ArgumentHelp("A file, a URL, or - for standard input.", valueName: "a"), completion: .images)
    var left: String

    @Argument(help: ArgumentHelp("A file, a URL, or - for standard input.", valueName: "b"), completion: .images)
    var right: String

    @Option(help: ArgumentHelp("Fail if the PSNR is lower.", valueName: "db")) var minPsnr: Double?

    @Option(help: ArgumentHelp("Fail if the SSIM is lower.", valueName: "0-1")) var minSsim: Double?

    @Flag(help: "Scale the larger image to the size of the other. (default: different sizes are an error)")
    var scale = false

    @Option(
        name: .letter("o"),
        help: ArgumentHelp("Write a picture of the differences. - is standard output, as PNG.", valueName: "out"),
        completion: .file())
    var output: String?

    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        try report.check(writesResult: OutputPlanner.isStandardOutput(output))
        if left == "-", right == "-" { throw ValidationError("Standard input can be read once.") }
        if let minPsnr, !(minPsnr >= 0) { throw ValidationError("--min-psnr takes 0 or more, not \(minPsnr).") }
        if let minSsim, !(-1...1 ~= minSsim) { throw ValidationError("--min-ssim takes -1 to 1, not \(minSsim).") }
    }

    func run() async throws {
        let recipe = Recipe(source, budget: MemoryBudget(bytes: .max))
        do {
            var (left, right) = (try await recipe.image(left), try await recipe.image(right))
            if scale {
                if left.size.width.saturatingTimes(left.size.height)
                    > right.size.width.saturatingTimes(right.size.height)
                {
                    left = try await Self.scaled(left, to: right.size)
                }
                if left.size != right.size { right = try await Self.scaled(right, to: left.size) }
            }
            let found = try await ImageComparison(of: left, right)
            if let output { try await write(ImageComparison.picture(of: left, right), to: output) }
            show(found, left.size)
            await recipe.resources.close(after: [Job(reading: self.left), Job(reading: self.right)])
            if found.psnr < minPsnr ?? 0 || found.ssim < minSsim ?? -1 { throw ExitCode(1) }
        } catch var error as LoadError {
            if error.subject.isEmpty { error = error.named(Job(reading: left)) }
            show(error: error)
            throw ExitCode(2)
        }
    }

    private static func scaled(_ image: DecodedImage, to size: PixelSize) async throws -> DecodedImage {
        let list = ImagePipeline {
            Given(image)
            Resize(size, fit: .fill, enlarges: true)
        }
        return try await list.load(ImageRequest(.bytes([]))).image ?? image
    }

    /// Writes the picture of the differences by the same rules as all other results.
    private func write(_ picture: DecodedImage, to output: String) async throws {
        let planner = try OutputPlanner(
            output: output, inPlace: false, format: nil,
            standardFormat: output == "-" ? Formats.standard : nil, inputs: 1)
        // It has no source of its own, so no image may be replaced by it.
        let jobs = try await planner.jobs([BatchSource(input: "data:", folder: ".")])
        let failure = Lock<LoadError?>(nil)
        var run = WorkRun(
            render: { _, _, targets in
                try await targets.eachRendering { try await Rendering($0) { Given(picture) } }
            }, rule: overwrite.rule,
            report: { result in failure.withLock { $0 = result.error } })
        let images = Set([left, right].compactMap { Job(reading: $0).file?.identity })
        run.isSource = { file, _ in images.contains(file) }
        _ = try await run.run(jobs)
        if let error = failure.withLock(\.self) { throw error }
    }

    private func show(_ found: ImageComparison? = nil, _ size: PixelSize? = nil, error: LoadError? = nil) {
        // No pixel differs where the PSNR is infinite, which JSON can't say.
        let psnr = found.flatMap { $0.psnr.isFinite ? $0.psnr : nil }
        Report(
            [
                "a": left, "b": right, "width": size?.width, "height": size?.height,
                "equal": found.map { _ in psnr == nil }, "psnr": psnr, "ssim": found?.ssim,
            ], error: error, found.flatMap { text($0.ssim, psnr: psnr) }
        ).show(report)
    }

    private func text(_ ssim: Double, psnr: Double?) -> String? {
        if OutputPlanner.isStandardOutput(output) { return nil }
        let psnr = psnr.map { "\(($0 * 100).rounded() / 100) dB" } ?? "infinite (no pixel differs)"
        return "PSNR \(psnr), SSIM \((ssim * 10_000).rounded() / 10_000)"
    }
}
