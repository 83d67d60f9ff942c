import PipelineImages
public import Pipeline
public import Stages

extension ImagePipeline {
    /// Memory, never delayed; then disk; then the tier that machines share; then the origin, which one machine asks for
    /// all.
    ///
    /// It is `returnCacheElseLoad`, edited by `sharing(_:)`, and by `encoding(_:keptIn:)` if its results are encoded.
    ///
    /// ```swift
    /// let thumbnails = ImagePipeline.returnSharedElseLoad(resources, fleet, encoding: Encode(.webp))
    /// ```
    /// - Parameters:
    ///   - resources: The caches, the client and the clock that the stages use.
    ///   - fleet: The fleet.
    ///   - encode: The stage that makes bytes of an image; `nil`, the default, for a list that ends in pixels. Results
    ///     are kept on disk next to their responses, and shared, if they are pictures that an `Encode` could have made.
    public static func returnSharedElseLoad(
        _ resources: PipelineResources, _ fleet: Fleet, encoding encode: (any Stage)? = nil
    ) -> ImagePipeline {
        let list = returnCacheElseLoad(resources)
        guard let encode else { return list.sharing(fleet) }
        let expected = ExpectedResult.picture((encode as? Encode)?.codecs ?? resources.codecs)
        return list.encoding(encode, keptIn: resources.responses, expecting: expected).sharing(fleet)
    }

    /// Returns the same list with the tier that machines share; see `sharing(_:)` with a tier.
    public func sharing(_ fleet: Fleet) -> ImagePipeline { sharing(fleet.cache) }
}

extension Fleet {
    /// The arrangement of an `ImageLoader` whose machines share this fleet's tier: `returnCacheElseLoad` and `storeOnDisk`
    /// are edited by `sharing(_:)`, and each other policy stays as it is.
    public var arrangement: ImageLoader.Arrangement {
        { [self] policy, resources in
            let list = policy.pipeline(resources)
            switch policy {
            case .returnCacheElseLoad, .storeOnDisk: return list.sharing(self)
            default: return list
            }
        }
    }
}
