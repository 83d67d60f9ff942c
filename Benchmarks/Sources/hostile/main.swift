// `hostile [CASES] [SEED]` decodes damaged files. With `--sanitize=address` the sanitizer watches.
let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
try await HostileFiles.run(cases: numbers.first ?? 2000, seed: UInt64(numbers.dropFirst().first ?? 1))
