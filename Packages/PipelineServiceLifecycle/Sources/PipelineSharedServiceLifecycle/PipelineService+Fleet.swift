public import PipelineServiceLifecycle
public import PipelineShared

extension PipelineService {
    /// Shuts a fleet down with the program: its connections and their threads end. Loads continue without the shared tier.
    public init(_ fleet: Fleet) { self.init { await fleet.shutdown() } }
}
