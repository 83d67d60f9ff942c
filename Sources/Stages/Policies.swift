import PipelineImages
public import Pipeline

/// The cache policies, each written out as an arrangement of stages. No stage asks which policy is in force.
extension ImagePipeline {
    /// Memory, never delayed; then disk; then the network.
    /// - Parameters:
    ///   - resources: what the stages stand on.
    ///   - cacheDelay: how long to wait before the disk is looked at.
    ///   - downloadDelay: how long to wait before the network is asked; then both caches are looked at again, since
    ///     another load may have stored the image meanwhile.
    public static func returnCacheElseLoad(
        _ resources: PipelineResources, cacheDelay: Duration? = nil, downloadDelay: Duration? = nil
    ) -> ImagePipeline {
        arranged(resources) {
            ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            MemoryLookup(resources.memory)
            Coalesce(resources.flights, by: .variant) {
                ReadInline()
                ReadFile(byteLimit: resources.limits.encodedBytes)
                ReplaceUndecodable(resources.responses) {
                    if let cacheDelay { Delay(cacheDelay) }
                    DiskLookup(resources.responses)
                    if let downloadDelay {
                        Delay(downloadDelay)
                        MemoryLookup(resources.memory)
                        DiskLookup(resources.responses)
                    }
                    RefreshStale(resources.flights) {
                        StaleFirst {
                            StaleIfError {
                                Coalesce(resources.flights, by: .source) {
                                    Lease(resources.responses) { fetch(resources) }
                                }
                            }
                            CheckContentType(codecs: resources.codecs)
                            resources.decode
                            Downscale()
                        }
                        Store(resources.memory, resources.responses)
                    }
                }
            }
        }
    }

    /// Memory, never delayed; then disk; never the network: a miss is `LoadError.Code.notCached`.
    /// - Parameters:
    ///   - resources: what the stages stand on.
    ///   - delay: how long to wait before the disk is looked at.
    public static func returnCacheDontLoad(_ resources: PipelineResources, delay: Duration? = nil) -> ImagePipeline {
        arranged(resources) {
            ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            MemoryLookup(resources.memory)
            Coalesce(resources.flights, by: .variant) {
                ReadInline()
                ReadFile(byteLimit: resources.limits.encodedBytes)
                ReplaceUndecodable(resources.responses) {
                    if let delay { Delay(delay) }
                    DiskLookup(resources.responses)
                    resources.decode
                    Downscale()
                    Store(resources.memory, resources.responses)
                }
            }
        }
    }

    /// Memory, then disk; never the network. An image past its freshness is given all the same, as stale: also one that
    /// the server wants to be confirmed each time.
    /// - Parameter resources: what the stages stand on.
    public static func offline(_ resources: PipelineResources) -> ImagePipeline {
        arranged(resources) {
            ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            MemoryLookup(resources.memory, rules: .offline)
            Coalesce(resources.flights, by: .variant) {
                ReadInline()
                ReadFile(byteLimit: resources.limits.encodedBytes)
                ReplaceUndecodable(resources.responses) {
                    DiskLookup(resources.responses, rules: .offline)
                    resources.decode
                    Downscale()
                    Store(resources.memory, resources.responses)
                }
            }
        }
    }

    /// No cache is read, the network is asked once, and both caches are written.
    /// - Parameters:
    ///   - resources: what the stages stand on.
    ///   - delay: how long to wait before the network is asked.
    public static func ignoreCache(_ resources: PipelineResources, delay: Duration? = nil) -> ImagePipeline {
        arranged(resources) {
            ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            Coalesce(resources.flights, by: .variant) {
                ReadInline()
                ReadFile(byteLimit: resources.limits.encodedBytes)
                if let delay { Delay(delay) }
                Coalesce(resources.flights, by: .source) { fetch(resources) }
                CheckContentType(codecs: resources.codecs)
                resources.decode
                Downscale()
                Store(resources.memory, resources.responses)
            }
        }
    }

    /// Memory, disk, network; HTTP's rules (RFC 9111) alone decide what is fresh, whatever a request's expiry says.
    public static func useProtocol(_ resources: PipelineResources) -> ImagePipeline {
        arranged(resources) {
            ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            MemoryLookup(resources.memory, rules: .http)
            Coalesce(resources.flights, by: .variant) {
                ReadInline()
                ReadFile(byteLimit: resources.limits.encodedBytes)
                ReplaceUndecodable(resources.responses) {
                    DiskLookup(resources.responses, rules: .http)
                    RefreshStale(resources.flights) {
                        StaleFirst {
                            StaleIfError {
                                Coalesce(resources.flights, by: .source) {
                                    Lease(resources.responses, rules: .http) { fetch(resources) }
                                }
                            }
                            CheckContentType(codecs: resources.codecs)
                            resources.decode
                            Downscale()
                        }
                        Store(resources.memory, resources.responses, rules: .http)
                    }
                }
            }
        }
    }

    /// Disk, then the network; nothing is decoded and nothing goes to memory. This is what prefetching for the disk alone
    /// does.
    /// - Parameter resources: what the stages stand on.
    public static func storeOnDisk(_ resources: PipelineResources) -> ImagePipeline {
        arranged(resources) {
            ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            Coalesce(resources.flights, by: .variant) {
                DiskLookup(resources.responses)
                Coalesce(resources.flights, by: .source) {
                    Lease(resources.responses) { fetch(resources) }
                }
                CheckContentType(codecs: resources.codecs)
                CheckHeader(codecs: resources.codecs, limits: resources.limits)
                Store(originals: resources.responses)
            }
        }
    }

    /// A policy's list: chosen at run time, so that an edit that doesn't suit it never ends the program.
    private static func arranged(_ resources: PipelineResources, @ChainBuilder _ stages: () -> Chain) -> ImagePipeline {
        .arranged(stages(), clock: resources.clock)
    }

    /// Asks the origin, and leaves it alone for a while where it only has errors to give and that is wished.
    @ChainBuilder private static func fetch(_ resources: PipelineResources) -> Chain {
        let fetch = Fetch(resources.responses, resources.client, byteLimit: resources.limits.encodedBytes)
        if let limits = resources.errorLimits {
            LimitErrors(resources.responses, limits) { fetch }
        } else {
            fetch
        }
    }
}
