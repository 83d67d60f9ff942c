import PipelineImages
public import Pipeline
public import Stages

extension ImagePipeline {
    /// Memory, never delayed; then disk; then the tier that machines share; then the origin, which one machine asks for
    /// all.
    ///
    /// It is `returnCacheElseLoad` with ``SharedLookup``, ``FleetLease`` and ``SharedStore``; and with ``SharedResult``
    /// if its results are encoded.
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
        let fetch = Fetch(
            responses: resources.responses, client: resources.client, byteLimit: resources.limits.encodedBytes)
        let decode = resources.decode
        let limits = resources.errorLimits
        let expected = ExpectedResult.picture((encode as? Encode)?.codecs ?? .standard)
        return .arranged(
            chain {
                ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
                MemoryLookup(resources.memory)
                Coalesce(resources.flights, by: .variant) {
                    ReadInline()
                    ReadFile(byteLimit: resources.limits.encodedBytes)
                    ReplaceUndecodable(resources.responses) {
                        DiskLookup(resources.responses)
                        RefreshStale(resources.flights) {
                            StaleFirst {
                                StaleIfError {
                                    Coalesce(resources.flights, by: .source) {
                                        Lease(resources.responses) {
                                            SharedLookup(fleet)
                                            FleetLease(fleet) {
                                                if let limits {
                                                    LimitErrors(limits, in: resources.responses) { fetch }
                                                } else {
                                                    fetch
                                                }
                                            }
                                        }
                                    }
                                }
                                CheckContentType(codecs: resources.codecs)
                                if let encode {
                                    VariantLookup(resources.responses, expecting: expected)
                                    SharedResult(fleet, expecting: expected) {
                                        decode
                                        Downscale()
                                        encode
                                    }
                                } else {
                                    decode
                                    Downscale()
                                }
                            }
                            SharedStore(fleet)
                            Store(resources.memory, resources.responses)
                        }
                    }
                }
            }, clock: resources.clock)
    }

    private static func chain(@ChainBuilder _ stages: () -> Chain) -> Chain { stages() }
}

extension Fleet {
    /// The arrangement of an `ImageLoader` whose machines share this fleet's tier: `returnSharedElseLoad`
    /// for `returnCacheElseLoad` without delays, and each other policy as it is.
    public var arrangement: ImageLoader.Arrangement {
        { [self] policy, resources in
            policy == .standard ? .returnSharedElseLoad(resources, self) : policy.pipeline(resources)
        }
    }
}
