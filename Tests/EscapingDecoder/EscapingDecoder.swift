import CEscapes
import Pipeline
import PipelineImages
import PipelineIsolation

/// Does in a worker what the file's text says: an attempt to escape, a crash or a lie.
struct EscapingDecoder: ImageDecoding, MetadataRewriting {
    static let format = ImageFormat(rawValue: "image/x-escape")

    func prepare() { cescapes_prepare() }

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        var header = ImageHeader(format: Self.format, storedSize: PixelSize(square: 4))
        switch words(bytes).first {
        case "lie-header": send(kind: 0, sequence: 1, numbers: [Int](repeating: .max, count: 24))
        case "fail": throw LoadError(.undecodable, subject: "", "The header fails, as it was told to.")
        case "lie-first": send(kind: 0, sequence: 1, numbers: numbers(bytes))
        case "large": header.storedSize = PixelSize(square: 1500)
        default: break
        }
        return header
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let words = words(bytes)
        switch words.first {
        case "try", "run":
            let error = words[0] == "try" ? cescapes_try(words[1]) : cescapes_run(words[1], words[2])
            guard error == 0 else {
                throw LoadError(LoadError.Code(rawValue: "failedAttempt"), subject: "", "Error \(error).")
            }
        case "search":
            guard cescapes_count(words[1]) > 0 else {
                throw LoadError(LoadError.Code(rawValue: "failedAttempt"), subject: "", "It is nowhere.")
            }
        case "random": throw LoadError(LoadError.Code(rawValue: "random"), subject: "", "\(cescapes_random())")
        case "compute": cescapes_compute()
        case "crash": raise()
        case "smash": cescapes_smash_heap()
        case "overwrite": cescapes_overwrite()
        case "loop": while true {}
        case "junk": cescapes_send([UInt8](repeating: 0xff, count: 100), 100)
        case "duplicate": send(kind: 0, sequence: 2, numbers: [4, 4, 3, 269, 0, 1, 0, 4, 4, 0, 0, 0, 0, 0, 0])
        case "lie": send(kind: 0, sequence: 2, numbers: words.dropFirst().compactMap { Int($0) })
        case "lie-error": send(kind: 1, sequence: 2, numbers: [1 << 40, 5])
        case "lie-status": send(kind: 77, sequence: 2, numbers: [])
        case "allocate":
            let pixels = [UInt8](repeating: 1, count: 2 << 30)
            if pixels[pixels.count - 1] == 0 {
                return try self.decode([], header: header, box: box, options: options, cancellation: cancellation)
            }
        default: break
        }
        let size = header.size
        return DecodedImage(
            size: size, layout: .rgb, pixels: [UInt8](repeating: 7, count: size.width * size.height * 3))
    }

    /// Its first word is the number of the request that it answers instead.
    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        let numbers = numbers(bytes)
        if words(bytes).first == "lie-metadata", let sequence = numbers.first {
            send(kind: 0, sequence: Int64(sequence), numbers: Array(numbers.dropFirst()))
        }
        return EmbeddedMetadata()
    }

    /// Returns as many zeros as the file says.
    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], without metadata: StrippedMetadata,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] { [UInt8](repeating: 0, count: numbers(bytes).first ?? 0) }

    private func numbers(_ bytes: [UInt8]) -> [Int] { words(bytes).dropFirst().compactMap { Int($0) } }

    private func words(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().map(String.init)
    }

    private func raise() { UnsafeMutablePointer<Int>(bitPattern: 16)?.pointee = 1 }

    private func send(kind: Int64, sequence: Int64, numbers: [Int]) {
        var message = Message(kind: kind)
        message.sequence = sequence
        for number in numbers { message.append(number) }
        withUnsafeBytes(of: &message) { cescapes_send($0.baseAddress, UInt($0.count)) }
    }
}
