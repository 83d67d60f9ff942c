/// A TIFF file of one picture, put together tag by tag (TIFF 6.0 section 2).
struct TIFFBytes {
    /// The values of a tag: bytes, numbers of 16 or 32 bits, or bytes of no type.
    struct Field {
        var type = 3
        var values: [Int]

        var bytes: [UInt8] {
            let length = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1][type] ?? 4
            return values.flatMap { value in (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        }
    }

    var fields: [Int: Field] = [:]
    /// Strips or tiles.
    var pieces: [[UInt8]]
    var isTiled = false

    /// A picture whose samples are all of the same bits; `nil` leaves the photometric interpretation out.
    init(
        width: Int, height: Int, bits: Int = 8, samples: Int, photometric: Int?, compression: Int = 1, pieces: [[UInt8]]
    ) {
        self.pieces = pieces
        set(256, [width], type: 4)
        set(257, [height], type: 4)
        set(258, [Int](repeating: bits, count: samples))
        set(259, [compression])
        if let photometric { set(262, [photometric]) }
        set(277, [samples])
        set(278, [height], type: 4)
    }

    mutating func set(_ tag: Int, _ values: [Int], type: Int = 3) { fields[tag] = Field(type: type, values: values) }

    /// The same with one more tag.
    func with(_ tag: Int, _ values: [Int], type: Int = 3) -> TIFFBytes {
        var file = self
        file.set(tag, values, type: type)
        return file
    }

    /// The same with planes one behind the other.
    var planar: TIFFBytes { with(284, [2]) }

    /// The same in tiles.
    func tiled(_ width: Int, _ height: Int) -> TIFFBytes {
        var file = with(322, [width], type: 4).with(323, [height], type: 4)
        file.fields[278] = nil
        file.isTiled = true
        return file
    }

    var bytes: [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var fields = fields
        fields[isTiled ? 325 : 279] = Field(type: 4, values: pieces.map(\.count))
        fields[isTiled ? 324 : 273] = Field(type: 4, values: pieces.map { _ in 0 })
        let table = 8 + 2 + 12 * fields.count + 4
        let outside = fields.values.map { $0.bytes.count }.filter { $0 > 4 }.reduce(0) { $0 + ($1 + 1) / 2 * 2 }
        var start = table + outside
        fields[isTiled ? 324 : 273] = Field(
            type: 4,
            values: pieces.map { piece in
                defer { start += piece.count }
                return start
            })
        var file: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + number(fields.count, 2)
        var values: [UInt8] = []
        for (tag, field) in fields.sorted(by: { $0.key < $1.key }) {
            let bytes = field.bytes
            file += number(tag, 2) + number(field.type, 2) + number(field.values.count, 4)
            if bytes.count <= 4 {
                file += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            } else {
                file += number(table + values.count, 4)
                values += bytes + (bytes.count % 2 == 1 ? [0] : [])
            }
        }
        return file + number(0, 4) + values + pieces.joined()
    }
}
