import CArguments
import Pipeline
public import PipelineFile
public import Stages

#if Fleet
import PipelineShared
#endif

/// The command `pipectl` as a library, for a program that adds formats and stages of its own:
///
/// ```swift
/// await Command.main(name: "qoictl", codecs: .standard.adding(.qoi), stages: ownStages)
/// ```
///
/// Every verb, `-f`, `--ops`, `--pipeline`, `--help`, completions and `doctor` then know the formats and the stages, and
/// say the program's name.
public enum Command {
    /// Runs the process's arguments as the command does, and ends the process with its status.
    /// - Parameters:
    ///   - name: The program's name in messages, help, completions and man pages; by default `pipectl`. Settings are in
    ///     a folder of this name, `$XDG_CONFIG_HOME/qoictl/config.yaml`, and in variables that begin with it, such as
    ///     `QOICTL_QUALITY`.
    ///   - codecs: The formats that are read and written; by default `ImageCodecs.standard`.
    ///   - stages: Stages that join the library's; by default none. One with the name of a stage of the library replaces
    ///     it. `--ops` takes those that turn pixels into pixels, `--pipeline` takes all.
    public static func main(
        name: String = "pipectl", codecs: ImageCodecs = .standard, stages: StageCatalog = StageCatalog([])
    ) async {
        Program.name = name
        Program.stages = stages
        Formats.codecs = codecs
        await Pipectl.main()
    }
}

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

/// The command line, without the program's name. Bytes that are not UTF-8 are escaped as in paths.
enum Arguments {
    /// - Throws: ``Missing`` if the system passed none.
    static func all() throws -> [String] {
        let count = Int(carguments_count())
        guard count >= 0 else { return Array(CommandLine.arguments.dropFirst()) }
        guard count > 0 else { throw Missing() }
        return (1..<count).compactMap { index in carguments_value(Int32(index)).map { String(path: $0) } }
    }

    /// The program was started without even its name.
    struct Missing: Error, CustomStringConvertible {
        var description: String { "\(Program.name) was started without arguments, not even its own name." }
    }
}
