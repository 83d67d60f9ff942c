/// An animated PNG of chunks that a test may change.
struct AnimatedPNG {
    typealias File = PNGDecoderTests.File

    /// A frame: its place, its rows, each with its filter before it, and what happens to it.
    struct Frame {
        var x = 0
        var y = 0
        var width: Int
        var height: Int
        var rows: [[UInt8]]
        var delay = (parts: 1, second: 10)
        var disposal: UInt8 = 0
        var isBlended = false

        /// A frame of one colour with 8 bits a sample.
        static func plain(
            _ place: (x: Int, y: Int, width: Int, height: Int), _ color: [UInt8], disposal: UInt8 = 0,
            isBlended: Bool = false
        ) -> Frame {
            let row: [UInt8] = [0] + Array(repeatElement(color, count: place.width).joined())
            return Frame(
                x: place.x, y: place.y, width: place.width, height: place.height,
                rows: Array(repeating: row, count: place.height), disposal: disposal, isBlended: isBlended)
        }
    }

    /// The whole of a canvas of 4×4 pixels.
    static let all = (x: 0, y: 0, width: 4, height: 4)

    var chunks: [(name: String, body: [UInt8])]

    var bytes: [UInt8] { File.file(chunks.map { ($0.name, $0.body) }) }

    /// - Parameters:
    ///   - still: The rows of a picture that isn't a frame; `nil` if the first frame is the picture.
    ///   - declared: The number of frames that the file says it has; by default the right one.
    init(
        _ frames: [Frame], width: Int = 4, height: Int = 4, depth: Int = 8, color: Int = 6, interlace: UInt8 = 0,
        colors: [(String, [UInt8])] = [], still: [[UInt8]]? = nil, plays: Int = 0, declared: Int? = nil
    ) {
        let header = File(width: width, height: height, depth: depth, color: color, interlace: interlace, rows: [])
        chunks = [("IHDR", header.header), ("acTL", File.big(declared ?? frames.count) + File.big(plays))]
        chunks += colors.map { ($0.0, $0.1) }
        if let still { chunks.append(("IDAT", File.stream(still))) }
        var sequence = 0
        for (index, frame) in frames.enumerated() {
            let place = [sequence, frame.width, frame.height, frame.x, frame.y].flatMap { File.big($0) }
            let delay = File.big(frame.delay.parts << 16 | frame.delay.second)
            chunks.append(("fcTL", place + delay + [frame.disposal, frame.isBlended ? 1 : 0]))
            sequence += 1
            let stream = File.stream(frame.rows)
            if index == 0, still == nil {
                chunks.append(("IDAT", stream))
                continue
            }
            // In two pieces.
            for piece in [Array(stream.prefix(9)), Array(stream.dropFirst(9))] {
                chunks.append(("fdAT", File.big(sequence) + piece))
                sequence += 1
            }
        }
        chunks.append(("IEND", []))
    }

    /// The places of the chunks with a name.
    func places(_ name: String) -> [Int] { chunks.indices.filter { chunks[$0].name == name } }
}
