import Foundation
import Pipeline
import Stages

/// The list of a machine with a disk of its own, over a second tier that all machines share.
func machine(_ resources: PipelineResources, sharing folder: URL, clock: any LoadClock) throws -> ImagePipeline {
    let tier = try DirectoryTier(folder)
    let shared = HTTPCache(store: tier, leases: tier.leases, source: .shared, isShared: true, clock: clock)
    return .returnCacheElseLoad(resources).sharing(shared)
}
