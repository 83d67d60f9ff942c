import ArgumentParser
import LibC
import Stages

/// The options for running jobs, shared by all verbs that run several.
struct RunOptions: ParsableArguments {
    @Option(name: .letter("j"), help: ArgumentHelp("Work on up to N at a time. (default: cores + 1)", valueName: "n"))
    var jobs: Int?

    @Option(
        help: ArgumentHelp(
            "Limit the memory of images in progress. (default: half of the machine's)", valueName: "size"))
    var memory: CountArgument?

    @Flag(help: "Print what would be written, and write nothing.") var dryRun = false

    @Flag(help: "Stop at the first failure. (default: continue with the others)") var failFast = false

    @Flag(help: "Continue after failures; the default.") var keepGoing = false

    func validate() throws {
        try check("--jobs", jobs, 1...1024)
        if let memory, memory.count < Self.leastMemory {
            throw ValidationError(
                "--memory \(ByteCount.text(memory.count)) is less than one image needs; give at least \(ByteCount.text(Self.leastMemory))."
            )
        }
        if failFast, keepGoing { throw ValidationError("--fail-fast and --keep-going exclude each other; give one.") }
    }

    /// Less would not hold the pixels of a small photo.
    private static let leastMemory = 1_000_000

    /// How many jobs run concurrently. By default there is one more than cores: while one computes, another reads or
    /// writes.
    var width: Int { jobs ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) + 1 }

    /// The memory budget of images in progress.
    var budget: MemoryBudget {
        let pages = Int(sysconf(Int32(_SC_PHYS_PAGES)))
        let machine = pages.multipliedReportingOverflow(by: Int(sysconf(Int32(_SC_PAGESIZE)))).partialValue
        return MemoryBudget(bytes: memory?.count ?? max(256_000_000, machine / 2))
    }
}

/// A number of bytes or pixels, such as `800`, `500M` or `2G`.
struct CountArgument: ExpressibleByArgument {
    let count: Int

    init?(argument: String) {
        guard let count = ByteCount.bytes(argument) else { return nil }
        self.count = count
    }
}
