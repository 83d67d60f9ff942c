import CImages
import Pipeline

/// Up to 256 colours that represent those of a picture.
final class Palette {
    /// The colours as RGBA with straight alpha, four bytes each.
    let colors: [UInt8]
    /// How far the picture's colours are from those of the palette, in levels.
    let error: Float
    let search: OpaquePointer

    /// Chooses colours. It splits the colour space where that reduces the error most, then repeatedly moves each colour
    /// to the mean of those that it represents (k-means). If all colours fit, they are kept exactly.
    /// - Parameters:
    ///   - most: The most colours to choose.
    ///   - beginsClear: Whether the first colour is the transparent one, if a pixel is transparent.
    ///   - effort: From 1 to 10. A higher effort allows more moves.
    /// - Throws: `CancellationError`; `LoadError.Code.unencodable` if memory can't be allocated.
    init(
        of histogram: ColorHistogram, most: Int, beginsClear: Bool, effort: Int, _ cancellation: WorkCancellation
    ) throws {
        let clear: [UInt8] = beginsClear && histogram.isPartlyClear ? [0, 0, 0, 0] : []
        var colors = try clear + Self.chosen(of: histogram, most: most - clear.count / 4, effort: effort, cancellation)
        // A search needs at least one colour.
        if colors.isEmpty { colors = [0, 0, 0, 255] }
        guard let search = cpalette_search_new(colors, Int32(colors.count / 4)) else { throw Self.outOfMemory }
        try cancellation.check()
        error = cpalette_search_error(search, histogram.pointer)
        self.colors = colors
        self.search = search
    }

    deinit { cpalette_search_free(search) }

    /// The number of colours.
    var count: Int { colors.count / 4 }

    /// Whether it represents other colours nearly as well as those that it was made from.
    func suits(_ histogram: ColorHistogram) -> Bool {
        cpalette_search_error(search, histogram.pointer) <= error * 1.1 + 2
    }

    private static func chosen(
        of histogram: ColorHistogram, most: Int, effort: Int, _ cancellation: WorkCancellation
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
