import ArgumentParser
import Pipeline

/// One of several parts of a list, such as `2/8`: each machine takes its own without coordination.
struct ShardArgument: ExpressibleByArgument, Sendable {
    let number: Int
    let count: Int

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let number = parts[0], let count = parts[1], count >= 1, 1...count ~= number,
            count <= 100_000
        else { return nil }
        self.number = number
        self.count = count
    }

    /// Whether an input is in this part. Only its name decides, so added or removed files don't move others.
    func contains(_ input: String) -> Bool {
        let word = BLAKE2bDigest(of: input).bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(word % UInt64(count)) == number - 1
    }
}
