import FoundationEssentials

/// When an image in memory was last used, and the generation of the stored response that it was made from.
struct MemoryUse: Sendable {
    let generation: Int64
    let time: Date
}
