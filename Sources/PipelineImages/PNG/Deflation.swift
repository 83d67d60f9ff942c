#if PNG
import CDeflate

/// Compresses zlib streams (RFC 1950) in one go with libdeflate.
enum Deflation {
    /// Returns the stream; `nil` if memory can't be allocated.
    /// - Parameter level: The compression level, from 0, none, to 9.
    static func zlibStream(of bytes: [UInt8], level: Int) -> [UInt8]? {
        guard let compressor = libdeflate_alloc_compressor(Int32(level)) else { return nil }
        defer { libdeflate_free_compressor(compressor) }
        let bound = libdeflate_zlib_compress_bound(compressor, bytes.count)
        return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            count = bytes.withUnsafeBytes {
                libdeflate_zlib_compress(compressor, $0.baseAddress, $0.count, buffer.baseAddress, buffer.count)
            }
        }
    }
}
#endif
