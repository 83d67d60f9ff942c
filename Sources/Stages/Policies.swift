import PipelineImages
public import Pipeline

/// The cache policies: one base list, and what each does between its lookup in memory and its end. No stage knows its
/// policy.
extension ImagePipeline {
    /// Memory, never delayed; then disk; then the network.
    /// - Parameters:
    ///   - resources: The caches, the client and the clock that the stages use.
    ///   - cacheDelay: How long to wait before the lookup on disk.
    ///   - downloadDelay: How long to wait before the request. Then both caches are checked again, since another load
    ///     may have stored the image meanwhile.
    public static func returnCacheElseLoad(
        _ resources: PipelineResources, cacheDelay: Duration? = nil, downloadDelay: Duration? = nil
    ) -> ImagePipeline {
        cacheElseLoad(resources, .asRequested, cacheDelay: cacheDelay, downloadDelay: downloadDelay)
    }

    /// Memory, never delayed; then disk; never the network: a miss is `LoadError.Code.notCached`.
    /// - Parameters:
    ///   - resources: The caches, the client and the clock that the stages use.
    ///   - delay: How long to wait before the lookup on disk.
    public static func returnCacheDontLoad(_ resources: PipelineResources, delay: Duration? = nil) -> ImagePipeline {
        cacheOnly(resources, .asRequested, delay: delay)
    }

    /// Memory, then disk; never the network. Stale images are used as well, and marked as stale, even if the server
    /// demands confirmation each time.
    /// - Parameter resources: The caches, the client and the clock that the stages use.
    public static func offline(_ resources: PipelineResources) -> ImagePipeline {
        cacheOnly(resources, .offline)
    }

    /// The network only: no cache is read, one request is sent, and both caches are written.
    /// - Parameters:
    ///   - resources: The caches, the client and the clock that the stages use.
    ///   - delay: How long to wait before the request.
    public static func ignoreCache(_ resources: PipelineResources, delay: Duration? = nil) -> ImagePipeline {
        base(resources) {
            if let delay { Delay(delay) }
            Coalesce(resources.flights, by: .source) { RemoveReplaced(resources.responses) { fetch(resources) } }
            CheckContentType(codecs: resources.codecs)
            resources.decode
            Downscale()
            Store(resources.memory, resources.responses)
        }
    }

    /// Memory, then disk, then the network. HTTP's rules (RFC 9111) alone decide what is fresh, whatever a request's
    /// expiry says.
    public static func useProtocol(_ resources: PipelineResources) -> ImagePipeline {
        cacheElseLoad(resources, .http)
    }

    /// Disk, then the network. Nothing is decoded and nothing goes to memory. A ``Prefetcher`` with the destination
    /// `disk` uses this policy.
    /// - Parameter resources: The caches, the client and the clock that the stages use.
    public static func storeOnDisk(_ resources: PipelineResources) -> ImagePipeline {
        base(resources, readsFiles: false) {
            Lookup(resources.responses)
            Coalesce(resources.flights, by: .source) { Lease(resources.responses) { fetch(resources) } }
            CheckContentType(codecs: resources.codecs)
            CheckHeader(codecs: resources.codecs, limits: resources.limits)
            Store(originals: resources.responses)
        }
    }

    /// The caches, then the network.
    private static func cacheElseLoad(
        _ resources: PipelineResources, _ rules: CacheRules, cacheDelay: Duration? = nil,
        downloadDelay: Duration? = nil
    ) -> ImagePipeline {
        base(resources, memory: rules) {
            ReplaceUndecodable(resources.responses) {
                if let cacheDelay { Delay(cacheDelay) }
                Lookup(resources.responses, rules: rules)
                if let downloadDelay {
                    Delay(downloadDelay)
                    MemoryLookup(resources.memory, rules: rules)
                    Lookup(resources.responses, rules: rules)
                }
                RefreshStale(resources.flights) {
                    StaleFirst {
                        StaleIfError {
                            Coalesce(resources.flights, by: .source) {
                                Lease(resources.responses, rules: rules) { fetch(resources) }
                            }
                        }
                        CheckContentType(codecs: resources.codecs)
                        resources.decode
                        Downscale()
                    }
                    Store(resources.memory, resources.responses, rules: rules)
                }
            }
        }
    }

    /// The caches alone.
    private static func cacheOnly(
        _ resources: PipelineResources, _ rules: CacheRules, delay: Duration? = nil
    ) -> ImagePipeline {
        base(resources, memory: rules) {
            ReplaceUndecodable(resources.responses) {
                if let delay { Delay(delay) }
                Lookup(resources.responses, rules: rules)
                resources.decode
                Downscale()
                Store(resources.memory, resources.responses)
            }
        }
    }

    /// The list of every policy. It may be chosen at run time, so an edit that doesn't suit it never ends the program.
    /// - Parameters:
    ///   - memory: The rules of the lookup in memory; `nil` for none.
    ///   - readsFiles: Whether it reads files and `data:` URLs.
    ///   - stages: The stages that run once for each URL, down to the store.
    private static func base(
        _ resources: PipelineResources, memory: CacheRules? = nil, readsFiles: Bool = true,
        @ChainBuilder _ stages: () -> Chain
    ) -> ImagePipeline {
        .arranged(
            Chain {
                ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
                if let memory { MemoryLookup(resources.memory, rules: memory) }
                Coalesce(resources.flights, by: .variant) {
                    if readsFiles {
                        ReadInline()
                        ReadFile(byteLimit: resources.limits.encodedBytes)
                    }
                    FollowRedirects { stages() }
                }
            }, clock: resources.clock)
    }

    /// Asks the origin, within the error limits if there are any.
    @ChainBuilder private static func fetch(_ resources: PipelineResources) -> Chain {
        let ask = FollowIdentified { Fetch(resources.client, byteLimit: resources.limits.encodedBytes) }
        if let limits = resources.errorLimits {
            LimitErrors(limits, in: resources.responses) { ask }
        } else {
            ask
        }
    }
}
