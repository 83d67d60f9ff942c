public import ArgumentParser
public import Pipeline

extension PixelSize: ExpressibleByArgument {
    /// Reads `640` as a square box, `640x480` as it stands, and `640x`, `640x0`, `x480` or `0x480` as a box with one side
    /// of any length.
    public init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        // "x" alone names no length.
        guard (1...2).contains(sides.count), sides.contains(where: { !$0.isEmpty }) else { return nil }
        let lengths = sides.map { $0.isEmpty ? 0 : Int($0) }
        guard let width = lengths[0], let height = lengths[lengths.count - 1],
            0...1_000_000 ~= width, 0...1_000_000 ~= height, width > 0 || height > 0
        else { return nil }
        self.init(width: width, height: height)
    }
}
