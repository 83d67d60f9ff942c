/// Writes numbers and runs of bytes one after the other, the lowest byte first.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Appends a number of a fixed width.
    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes, their count first.
    mutating func append(counted run: some Collection<UInt8>) {
        append(UInt32(run.count))
        bytes.append(contentsOf: run)
    }
}
