public import ArgumentParser
public import Pipeline

extension PixelSize: ExpressibleByArgument {
    /// Reads `640` as a square box and `640x480` as it stands.
    public init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(sides.count), let width = sides[0], let height = sides[sides.count - 1],
            1...1_000_000 ~= width, 1...1_000_000 ~= height
        else { return nil }
        self.init(width: width, height: height)
    }
}
