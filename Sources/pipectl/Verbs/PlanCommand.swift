import ArgumentParser
import Stages

/// Prints the list of stages that a policy stands for.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Print the pipeline that a policy stands for.",
        discussion: """
            Examples:
              pipectl plan
              pipectl plan --policy ignoreCache --download-delay 0.5
            """)

    @OptionGroup var policy: PolicyOptions

    func run() async throws {
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: ""), client: CurlClient())
        print(policy.cachePolicy.pipeline(resources))
    }
}
