public import Pipeline

/// The name of an arrangement, for choosing one at run time: with an option of a load, or at a shell.
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
    /// See ``Pipeline/ImagePipeline/storeOnDisk(_:)``. A ``Prefetcher`` to the disk uses it. A load of an ``ImageLoader``
    /// with it throws `unexpectedProduct`, since nothing is decoded.
    case storeOnDisk

    /// The default: ``returnCacheElseLoad(cacheDelay:downloadDelay:)`` without delays.
    public static let standard = CachePolicy.returnCacheElseLoad()

    /// The arrangement that the name stands for.
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
