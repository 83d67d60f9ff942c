import ArgumentParser
import Stages

/// Prints the stages of a policy's pipeline, or of a file's.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "plan", "Print the pipeline of a policy or a file.",
        """
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
        StandardOutput.write(
            try pipeline?.pipeline(resources, shared.fleet())
                ?? policy.cachePolicy.pipeline(resources, shared.fleet()))
    }
}
