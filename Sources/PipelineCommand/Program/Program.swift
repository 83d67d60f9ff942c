import Pipeline
import PipelineFile
import PipelineShared
import Stages

/// What a program that is the command says of itself, set once as it starts.
enum Program {
    private static let itself = Lock((name: "pipectl", stages: StageCatalog([])))

    /// The name in messages, help, completions and man pages, and of the folders of settings and journals.
    static var name: String {
        get { itself.withLock(isInner: true) { $0.name } }
        set { itself.withLock { $0.name = newValue } }
    }

    /// The stages that the program adds to the library's.
    static var stages: StageCatalog {
        get { itself.withLock(isInner: true) { $0.stages } }
        set { itself.withLock { $0.stages = newValue } }
    }

    /// The name as shells and environments allow it in an identifier, such as `my_ctl` for `my-ctl`.
    static var identifier: String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// The beginning of the variables with settings, such as `PIPECTL_`.
    static var variablePrefix: String { identifier.uppercased() + "_" }

    /// The stages that `--ops` may name: the library's transforms, and the program's stages.
    static var operations: StageCatalog {
        .operations(Formats.codecs).adding(StageCatalog(stages.specifications.filter { !$0.isComposite }))
    }
}

extension StageCatalog {
    /// The stages that a file may name: the library's, those of the shared tier, and the program's own.
    /// - Parameter fleet: The fleet of --shared; without one, its stages are an error.
    static func all(_ resources: PipelineResources, _ fleet: Fleet?) -> StageCatalog {
        @Sendable func given() throws -> Fleet {
            if let fleet { return fleet }
            throw StageMistake("This stage needs a Redis server; give --shared redis://host:port.")
        }
        let shared = [
            Lookup.specification("sharedLookup", "Looks for the source's response in the tier of --shared.") {
                try given().cache
            },
            Lease.specification(
                "fleetLease", "Runs its stages on one machine at a time, by a lease in the tier of --shared.",
                among: "machine"
            ) { try given().cache },
            Store.specification(
                resources, "sharedStore", "Does what store does, and keeps the response in the tier of --shared too."
            ) { try given().cache },
            Results.specification(
                resources, "sharedResult", "Does what results does, and shares results in the tier of --shared."
            ) { try given().cache },
        ]
        return .standard(resources).adding(StageCatalog(shared)).adding(Program.stages)
    }
}
