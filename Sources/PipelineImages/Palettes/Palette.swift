import CImages
import Pipeline

/// Up to 256 colours that stand for those of a picture.
final class Palette {
    /// Four bytes each: RGBA, straight.
    let colours: [UInt8]
    /// How far the picture's colours are from those that stand for them, in levels.
    let error: Float
    let search: OpaquePointer

    /// Chooses colours: by splitting the space of colours where that makes the error least, and then by moving each to the
    /// mean of those that it stands for, again and again (k-means). Colours that fit in are kept as they are.
    /// - Parameters:
    ///   - most: how many colours there may be.
    ///   - beginsClear: whether the first is what is clear, if anything is.
    ///   - effort: from 1 to 10; how often they are moved at most.
    /// - Throws: `CancellationError`; `LoadError.Code.unencodable` if there is no memory for it.
    init(
        of histogram: ColourHistogram, most: Int, beginsClear: Bool, effort: Int, _ cancellation: WorkCancellation
    ) throws {
        let clear: [UInt8] = beginsClear && histogram.isPartlyClear ? [0, 0, 0, 0] : []
        var colours = try clear + Self.chosen(of: histogram, most: most - clear.count / 4, effort: effort, cancellation)
        // The nearest of none can't be found.
        if colours.isEmpty { colours = [0, 0, 0, 255] }
        guard let search = cpalette_search_new(colours, Int32(colours.count / 4)) else { throw Self.outOfMemory }
        try cancellation.check()
        error = cpalette_search_error(search, histogram.pointer)
        self.colours = colours
        self.search = search
    }

    deinit { cpalette_search_free(search) }

    /// How many colours there are.
    var count: Int { colours.count / 4 }

    /// Whether it stands for other colours nearly as well as for those that it was made of.
    func suits(_ histogram: ColourHistogram) -> Bool {
        cpalette_search_error(search, histogram.pointer) <= error * 1.1 + 2
    }

    private static func chosen(
        of histogram: ColourHistogram, most: Int, effort: Int, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        guard let choice = cpalette_choose(histogram.pointer, Int32(most)) else { throw outOfMemory }
        defer { cpalette_choice_free(choice) }
        for _ in 0..<effort * 3 / 2 {
            try cancellation.check()
            guard cpalette_improve(choice) else { break }
        }
        return [UInt8](unsafeUninitializedCapacity: 1024) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = 4 * Int(cpalette_take(choice, start))
        }
    }

    static let outOfMemory = LoadError(
        .unencodable, subject: "", "The picture can't be written with a palette: out of memory.")
}
