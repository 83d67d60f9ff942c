#if WebP
import CWebP

/// Adds metadata to a WebP file (RFC 9649 sections 2.7.1.4 and 2.7.1.5).
enum WebPMetadata {
    static func added(_ metadata: EmbeddedMetadata, to file: [UInt8]) throws -> [UInt8] {
        try file.withUnsafeBufferPointer { file in
            var data = WebPData(bytes: file.baseAddress, size: file.count)
            guard let mux = WebPMuxCreate(&data, 0) else { throw WebPEncoder.refused("its chunks make no sense") }
            defer { WebPMuxDelete(mux) }
            try add(metadata.profile, "ICCP", to: mux)
            try add(metadata.exif, "EXIF", to: mux)
            try add(metadata.xmp, "XMP ", to: mux)
            var assembled = WebPData()
            WebPDataInit(&assembled)
            defer { WebPDataClear(&assembled) }
            guard WebPMuxAssemble(mux, &assembled) == WEBP_MUX_OK else { throw WebPEncoder.refused("out of memory") }
            return Array(UnsafeBufferPointer(start: assembled.bytes, count: assembled.size))
        }
    }

    private static func add(_ block: [UInt8], _ name: String, to mux: OpaquePointer) throws {
        guard !block.isEmpty else { return }
        try block.withUnsafeBufferPointer { block in
            var data = WebPData(bytes: block.baseAddress, size: block.count)
            guard WebPMuxSetChunk(mux, name, &data, 1) == WEBP_MUX_OK else {
                throw WebPEncoder.refused("its \(name) chunk can't be added")
            }
        }
    }
}
#endif
