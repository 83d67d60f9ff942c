import Essentials
package import Pipeline

/// A stored response without its body, as bytes for a store that other releases read as well.
///
/// The first byte is the version of the format. A release that changes the format increments it, and reads the bytes of
/// any other version as unknown.
package enum PackedResponse {
    /// The version of the format.
    package static let version: UInt8 = 1

    /// Packs a response. The key and the generation aren't part of the bytes: the store has them.
    /// - Parameter bodyLength: The length of the body, where the response was passed without it.
    package static func pack(_ response: StoredResponse, bodyLength: Int? = nil) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(version)
        writer.append(UInt16(clamping: response.status))
        writer.append(response.requestTime.microseconds)
        writer.append(response.responseTime.microseconds)
        writer.append(response.stored.microseconds)
        writer.append(response.expires?.microseconds ?? none)
        writer.append(response.freshUntil?.microseconds ?? none)
        writer.append(UInt64(bodyLength ?? response.body.count))
        writer.append(counted: response.target.utf8)
        writer.append(counted: StoredFields.encode(response.headers))
        writer.append(counted: response.selecting.encoded)
        if let redirects = response.redirects { writer.append(counted: redirects.encoded) }
        return writer.bytes
    }

    /// Unpacks a response without its body; `nil` if the version is unknown or the bytes are malformed.
    package static func unpack(
        _ bytes: [UInt8], key: SourceKey, generation: Int64
    ) -> (head: StoredResponse, bodyLength: Int)? {
        var reader = ByteReader(bytes)
        guard reader.number(UInt8.self) == version, let status = reader.number(UInt16.self),
            (100...999).contains(status), let requestTime = reader.number(Int64.self),
            let responseTime = reader.number(Int64.self), let stored = reader.number(Int64.self),
            let expires = reader.number(Int64.self), let freshUntil = reader.number(Int64.self),
            let length = reader.number(UInt64.self).flatMap({ Int(exactly: $0) }),
            CacheEntry.lengths.contains(Int64(length)), let target = reader.run(),
            let fields = reader.run().flatMap({ StoredFields.decode(Array($0)) }),
            let selecting = reader.run().flatMap({ SelectingFields(encoded: Array($0)) })
        else { return nil }
        let redirects = reader.isAtEnd ? nil : reader.run().flatMap { StoredRedirects(encoded: Array($0)) }
        guard reader.isAtEnd else { return nil }
        let head = StoredResponse(
            generation: generation, key: key, target: String(decoding: target, as: UTF8.self), status: Int(status),
            headers: fields, requestTime: Date(microseconds: requestTime),
            responseTime: Date(microseconds: responseTime), stored: Date(microseconds: stored),
            expires: date(expires), freshUntil: date(freshUntil), body: [], selecting: selecting, redirects: redirects)
        return (head, length)
    }

    /// Stands for a time that a response doesn't have.
    private static let none = Int64.min

    private static func date(_ microseconds: Int64) -> Date? {
        microseconds == none ? nil : Date(microseconds: microseconds)
    }
}

/// A result of an `Encode`, as bytes for a store that other releases read as well.
package enum PackedImage {
    /// Packs a result: its sizes, its media type, and its bytes to the end.
    package static func pack(_ image: EncodedImage) -> [UInt8] {
        let (size, native) = (image.size ?? 0, image.nativeSize ?? image.size ?? 0)
        var writer = ByteWriter()
        writer.append(PackedResponse.version)
        for side in [size.width, size.height, native.width, native.height] { writer.append(UInt32(clamping: side)) }
        writer.append(counted: (image.declaredType ?? "").utf8)
        return writer.bytes + image.bytes
    }

    /// Unpacks a result; `nil` if the version is unknown or the bytes are malformed.
    package static func unpack(_ bytes: [UInt8]) -> EncodedImage? {
        var reader = ByteReader(bytes)
        guard reader.number(UInt8.self) == PackedResponse.version else { return nil }
        let sides = (0..<4).compactMap { _ in reader.number(UInt32.self).map { Int($0) } }
        // The sides are bounded, since they are multiplied later.
        guard sides.count == 4, sides.allSatisfy({ $0 <= 1 << 24 }), let type = reader.run() else { return nil }
        return EncodedImage(
            bytes: Array(reader.remaining), declaredType: type.isEmpty ? nil : String(decoding: type, as: UTF8.self),
            size: PixelSize(width: sides[0], height: sides[1]), nativeSize: PixelSize(width: sides[2], height: sides[3])
        )
    }
}
