extension [UInt8] {
    /// The same bytes. Few of them are copied, so that they keep no memory that they don't need; many keep what was set
    /// aside for them: memory that was never written to is none.
    var trimmed: [UInt8] { count < 1 << 20 ? withUnsafeBufferPointer { Array($0) } : self }
}
