public import Pipeline

/// Names one of the standard pipelines, so that a load's options or a command line can choose it at run time.
public enum CachePolicy: Sendable, Hashable {
    /// See ``Pipeline/ImagePipeline/returnCacheElseLoad(_:cacheDelay:downloadDelay:)``.
    case returnCacheElseLoad(cacheDelay: Duration? = nil, downloadDelay: Duration? = nil)
    /// See ``Pipeline/ImagePipeline/returnCacheDontLoad(_:delay:)``.
    case returnCacheDontLoad(delay: Duration? = nil)
    /// See ``Pipeline/ImagePipeline/offline(_:)``.
    case offline
    /// See ``Pipeline/ImagePipeline/ignoreCache(_:delay:)``.
    case ignoreCache(delay: Duration? = nil)
    /// See ``Pipeline/ImagePipeline/useProtocol(_:)``.
    case useProtocol
    /// See ``Pipeline/ImagePipeline/storeOnDisk(_:)``. A ``Prefetcher`` with the destination `disk` uses it. Loading an
    /// image with it throws `unexpectedProduct`, since nothing is decoded.
    case storeOnDisk

    /// The default: ``returnCacheElseLoad(cacheDelay:downloadDelay:)`` without delays.
    public static let standard = CachePolicy.returnCacheElseLoad()

    /// Returns the policy's pipeline.
    public func pipeline(_ resources: PipelineResources) -> ImagePipeline {
        switch self {
        case .returnCacheElseLoad(let cacheDelay, let downloadDelay):
            .returnCacheElseLoad(resources, cacheDelay: cacheDelay, downloadDelay: downloadDelay)
        case .returnCacheDontLoad(let delay): .returnCacheDontLoad(resources, delay: delay)
        case .offline: .offline(resources)
        case .ignoreCache(let delay): .ignoreCache(resources, delay: delay)
        case .useProtocol: .useProtocol(resources)
        case .storeOnDisk: .storeOnDisk(resources)
        }
    }
}
