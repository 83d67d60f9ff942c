#if GIF
import CImages
import Pipeline

extension AnimationCanvas {
    /// Draws one stored row of a frame, or its beginning, clipped to the canvas.
    func draw(
        _ indices: UnsafePointer<UInt8>, count: Int, row: Int, of frame: GIFFrame, palette: UnsafePointer<UInt8>
    ) {
        let place = place(of: frame)
        guard row < place.height else { return }
        cgif_draw(
            indices, min(count, place.width), palette, Int32(frame.transparent ?? -1), self.row(row, of: place),
            Int32(channels))
    }

    /// The place of a frame.
    func place(of frame: GIFFrame) -> Place {
        Place(left: frame.left, top: frame.top, width: frame.width, height: frame.height, in: size)
    }
}
#endif
