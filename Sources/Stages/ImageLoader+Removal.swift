public import FoundationEssentials
public import Pipeline

extension ImageLoader {
    /// Removes what both caches hold under an identifier.
    public func remove(identifier: String, partition: String? = nil) async {
        await remove(ImageRequest(.bytes([]), identifier: identifier, partition: partition))
    }

    /// Removes what both caches hold under a URL.
    public func remove(_ url: URL, partition: String? = nil) async {
        await remove(ImageRequest(ImageSource(url), partition: partition))
    }

    /// Removes what both caches hold for a request's source, in every size.
    public func remove(_ request: ImageRequest) async {
        guard let key = SourceKey(request, credentials: resources.credentials) else { return }
        resources.memory.remove(key)
        await resources.responses.remove(key)
    }

    /// Removes everything from both caches. Loads under way are cancelled first, so that none stores afterwards.
    public func removeAll() async {
        await resources.flights.cancelAll()
        resources.memory.reset()
        await resources.responses.removeAll()
    }

    /// Removes what is past its freshness by the loader's default expiry from both caches.
    public func cleanUp() async {
        resources.memory.removeExpired(defaults.expiry, now: resources.clock.now)
        await resources.responses.cleanUp(.expired)
    }
}
