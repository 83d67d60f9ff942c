import ArgumentParser

/// How many frames of an animation are kept: `all`, or a number of the first ones.
struct FramesArgument: ExpressibleByArgument, Sendable {
    /// How many frames are decoded at most.
    let most: Int

    /// More than any honest animation has.
    static let all = 10_000

    init?(argument: String) {
        guard let most = argument == "all" ? Self.all : Int(argument), 1...Self.all ~= most else { return nil }
        self.most = most
    }
}
