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
    ///
    /// Loads under way go on and deliver their image, but don't store it, and later loads don't join them.
    public func remove(_ request: ImageRequest) async {
        guard let key = await SourceKey.resolved(request, credentials: resources.credentials) else { return }
        resources.flights.noteRemoval(of: key)
        resources.memory.remove(key)
        // What redirects lead to is the picture that was meant.
        let keys = [key] + (await resources.responses.remove(request, key))
        // Loads that began meanwhile may have found what was about to be removed.
        for key in keys {
            resources.flights.noteRemoval(of: key)
            resources.memory.remove(key)
        }
    }

    /// Removes everything from both caches. Loads under way are cancelled first.
    ///
    /// Loads that begin before this returns deliver their image, but may not be stored. They are not waited for.
    public func removeAll() async {
        await resources.flights.cancelAll()
        resources.flights.noteRemovalOfAll()
        resources.memory.reset()
        await resources.responses.removeAll()
        // Loads that began meanwhile may have found what was about to be removed.
        resources.flights.noteRemovalOfAll()
        resources.memory.reset()
    }

    /// Removes what is past its freshness by the loader's default expiry from both caches.
    public func cleanUp() async {
        resources.memory.removeExpired(defaults.expiry, now: resources.clock.now)
        await resources.responses.cleanUp(.expired)
    }
}
