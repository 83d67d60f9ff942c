// `hostile [CASES] [SEED] [SLACK]` decodes damaged files and keeps those that take more than SLACK seconds, 1 by
// default, or SLACK times 100 MB. A build with `--sanitize=address` needs more slack.
let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
try await HostileFiles.run(
    cases: numbers.first ?? 2000, seed: UInt64(numbers.dropFirst().first ?? 1), slack: numbers.dropFirst(2).first ?? 1)
