import ArgumentParser
import Pipeline
import Stages

/// Prints the stages of a policy's pipeline, or of a file's, and what they keep of a source's pixels.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "plan", "Print the pipeline of a policy or a file.",
        """
        After the stages, it says what becomes of the gamut, the depth, HDR and the
        gain map of a source, and which stage loses them. Verbs that write images end a
        list without encode in one, and may keep more.

        Examples:
          \(Program.name) plan
          \(Program.name) plan --policy ignoreCache --download-delay 0.5
          \(Program.name) plan --shared redis://cache.internal
          \(Program.name) plan --pipeline poster.yaml
        """)

    @Option(
        help: ArgumentHelp("A pipeline of your own, a list of stages in YAML.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var pipeline: PipelineArgument?

    @OptionGroup(title: "Sources and cache") var isolation: IsolationOptions
    @OptionGroup(title: "Sources and cache") var policy: PolicyOptions
    @OptionGroup(title: "Sources and cache") var shared: SharedOptions

    func validate() throws { try shared.check(policy.cachePolicy) }

    func run() async throws {
        let resources = PipelineResources.described
        let list =
            try pipeline?.pipeline(resources, shared.fleet())
            ?? policy.cachePolicy.pipeline(resources, shared.fleet())
        StandardOutput.write(list)
        for fates in list.fates { StandardOutput.write("\n" + fates.joined(separator: "\n")) }
    }
}

extension ImagePipeline {
    /// What becomes of a source's qualities, for each kind of decoding in the list.
    fileprivate var fates: [[String]] {
        var found: [[String]] = []
        _ = wrapping(Decode.self, where: .present) { decode in
            let _ = found.contains(decode.fates) ? () : found.append(decode.fates)
            decode
        }
        return found
    }
}
