import Pipeline
import PipelineFile
import PipelineShared
import Stages

extension StageCatalogue {
    /// The stages that a file may name: the library's, those of the shared tier, and the program's own.
    /// - Parameter fleet: The fleet of --shared; without one, its stages are an error.
    static func all(_ resources: PipelineResources, _ fleet: Fleet?) -> StageCatalogue {
        @Sendable func given() throws -> Fleet {
            guard let fleet else {
                throw LoadError(
                    .refused, subject: "", "This stage needs a Redis server; give --shared redis://host:port.")
            }
            return fleet
        }
        let rules = StageParameter(
            "rules", .choice(["asRequested", "http"]), "Whether a request's own expiry counts, or HTTP's rules alone.",
            standard: "asRequested")
        let patience = StageParameter(
            "patience", .seconds(0...86_400), "How long to wait for another machine.", standard: "30", example: "10")
        @Sendable func rule(_ arguments: StageArguments) -> CacheRules {
            arguments.text("rules") == "http" ? .http : .asRequested
        }
        @Sendable func wait(_ arguments: StageArguments) -> Duration { arguments.duration("patience") ?? .seconds(30) }
        return .standard(resources)
            .adding(
                StageSpecification(
                    "sharedLookup", [rules], summary: "Looks for the source's response in the tier of --shared."
                ) { SharedLookup(try given(), rules: rule($0)) }
            )
            .adding(
                StageSpecification(
                    "fleetLease", [rules, patience], isComposite: true,
                    summary: "Runs its stages on one machine at a time, by a lease in the tier of --shared.",
                    example: "[fetch]"
                ) { arguments in
                    FleetLease(try given(), rules: rule(arguments), patience: wait(arguments)) { arguments.body }
                }
            )
            .adding(
                StageSpecification(
                    "sharedStore", [rules], summary: "Stores the response in the tier of --shared, and ends the lease."
                ) { SharedStore(try given(), rules: rule($0)) }
            )
            .adding(
                StageSpecification(
                    "sharedResult", [patience], isComposite: true,
                    summary: "Makes a result once for all machines, in the tier of --shared.",
                    example: "[decode, downscale, encode: webp]"
                ) { arguments in
                    SharedResult(try given(), expecting: .picture(resources.codecs), patience: wait(arguments)) {
                        arguments.body
                    }
                }
            )
            .adding(Program.stages)
    }
}
