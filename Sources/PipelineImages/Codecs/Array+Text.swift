extension [UInt8] {
    /// Whether the bytes at an offset are this text.
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= offset + length else { return false }
        return self[offset..<offset + length].elementsEqual(
            UnsafeBufferPointer(start: text.utf8Start, count: length))
    }
}
