#if AVIF
import Pipeline

/// A track of an AVIF file's movie: pictures, or their transparency (ISO/IEC 14496-12 section 8.3).
struct AVIFTrack {
    private(set) var size = PixelSize(width: 0, height: 0)
    /// Whether it belongs to another track.
    private(set) var isAuxiliary = false
    /// Whether an auxiliary track may hold transparency, rather than depth or anything else (ISO/IEC 23000-22 section
    /// 7.3.5).
    private(set) var mayBeAlpha = true
    private(set) var samples = 0
    /// Whether it holds AV1 pictures, rather than audio or anything else.
    private(set) var isAV1 = false
    private(set) var bits = 8
    private(set) var profile: [UInt8] = []
    private(set) var codedColors: CodedColors?
    /// The turns by 90° counterclockwise, and the mirroring that follows.
    private var turns = 0
    private var mirror: Int?
    private static let alpha = "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha".utf8
    /// `nil` if it is unknown.
    private var duration: Int?
    private var edit: (repeats: Bool, duration: Int)?

    init(_ content: ArraySlice<UInt8>, budget: inout Int) throws(LoadError) {
        for box in ISOBox.boxes(in: content, budget: &budget) {
            switch box.type {
            case "tkhd": readHeader(box.content)
            case "tref":
                isAuxiliary = ISOBox.boxes(in: box.content, budget: &budget).contains { $0.type == "auxl" }
            case "edts":
                for list in ISOBox.boxes(in: box.content, budget: &budget) where list.type == "elst" {
                    readEdits(list.content)
                }
            case "mdia":
                for part in Self.descendants(["minf", "stbl"], of: box.content, &budget) {
                    try readTable(part, &budget)
                }
            default: continue
            }
        }
    }

    /// How often the track plays. A repeating edit repeats until the track ends. Without an edit list, browsers play
    /// forever.
    var loops: Int {
        guard let edit else { return 0 }
        guard edit.repeats else { return 1 }
        guard let duration, edit.duration > 0 else { return 0 }
        let (whole, rest) = duration.quotientAndRemainder(dividingBy: edit.duration)
        let times = whole + (rest > 0 ? 1 : 0)
        return times > Int(Int32.max) ? 0 : times
    }

    /// The orientation that the properties `irot` and `imir` ask for together.
    var orientation: ImageOrientation {
        switch (turns, mirror) {
        case (1, nil): .left
        case (2, nil): .down
        case (3, nil): .right
        case (0, 1), (2, 0): .upMirrored
        case (0, 0), (2, 1): .downMirrored
        case (1, 0), (3, 1): .leftMirrored
        case (1, 1), (3, 0): .rightMirrored
        default: .up
        }
    }

    private mutating func readHeader(_ content: ArraySlice<UInt8>) {
        let isLong = content.first == 1
        let length = isLong ? 8 : 4
        let value = content.number(at: isLong ? 28 : 20, bytes: length)
        duration = content.slice(at: isLong ? 28 : 20, count: length)?.allSatisfy { $0 == 255 } == true ? nil : value
        // In 1/65,536 of a pixel.
        let end = content.count
        size = PixelSize(
            width: (content.number(at: end - 8, bytes: 4) ?? 0) >> 16,
            height: (content.number(at: end - 4, bytes: 4) ?? 0) >> 16)
    }

    private mutating func readEdits(_ content: ArraySlice<UInt8>) {
        guard let flags = content.number(at: 1, bytes: 3) else { return }
        edit = (flags & 1 == 1, content.number(at: 8, bytes: content.first == 1 ? 8 : 4) ?? 0)
    }

    /// Returns the contents of all boxes at the end of a path.
    private static func descendants(
        _ path: [String], of content: ArraySlice<UInt8>, _ budget: inout Int
    ) -> [ArraySlice<UInt8>] {
        var contents = [content]
        for type in path {
            var inner: [ArraySlice<UInt8>] = []
            for content in contents {
                inner += ISOBox.boxes(in: content, budget: &budget).filter { $0.type == type }.map(\.content)
            }
            contents = inner
        }
        return contents
    }

    private mutating func readTable(_ content: ArraySlice<UInt8>, _ budget: inout Int) throws(LoadError) {
        for box in ISOBox.boxes(in: content, budget: &budget) {
            switch box.type {
            case "stsz":
                let count = box.content.number(at: 8, bytes: 4) ?? 0
                // Frames are listed with their sizes unless all have the same size.
                let listed = box.content.number(at: 4, bytes: 4) == 0 ? (box.content.count - 12) / 4 : count
                guard count <= listed else { throw AVIFSequence.damaged("its list of frames is cut off") }
                samples = count
            case "stsd":
                for entry in ISOBox.boxes(in: box.content.dropFirst(8), budget: &budget) where entry.type == "av01" {
                    isAV1 = true
                    readProperties(ISOBox.boxes(in: entry.content.dropFirst(78), budget: &budget))
                }
            default: continue
            }
        }
    }

    private mutating func readProperties(_ properties: [ISOBox]) {
        for property in properties {
            switch property.type {
            case "av1C": if let flags = property.content.number(at: 2, bytes: 1), flags & 0x40 != 0 { bits = 16 }
            case "auxi": mayBeAlpha = property.content.dropFirst(4).starts(with: Self.alpha)
            case "irot": turns = (property.content.first.map(Int.init) ?? 0) & 3
            case "imir": mirror = (property.content.first.map(Int.init) ?? 0) & 1
            case "colr":
                let type = property.content.prefix(4)
                if type.elementsEqual("prof".utf8) || type.elementsEqual("rICC".utf8) {
                    profile = Array(property.content.dropFirst(4))
                } else if let colors = CodedColors(nclx: property.content) {
                    codedColors = codedColors ?? colors
                }
            default: continue
            }
        }
    }
}
#endif
