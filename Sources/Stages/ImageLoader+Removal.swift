public import FoundationEssentials
public import Pipeline

extension ImageLoader {
    /// Removes what both caches hold under an identifier.
    public func remove(identifier: String, partition: String? = nil) async {
        await remove(ImageRequest(.bytes([]), identifier: identifier, partition: partition))
    }

    /// Removes what both caches hold of a URL, in every size: what is kept for it without a partition or credentials, and
    /// every response that came from this very URL, under whatever identifier, partition or credentials.
    ///
    /// Of a `file:` URL, images of every state of the file are removed. What redirects led to is removed too, where it is
    /// kept without a partition or credentials.
    public func remove(_ url: URL) async {
        await remove(ImageRequest(ImageSource(url)))
        resources.memory.remove(target: url.targetText)
        await resources.responses.remove(url: url)
    }

    /// Removes what both caches hold under a URL for one partition, in every size, if it was asked for without credentials.
    public func remove(_ url: URL, partition: String) async {
        await remove(ImageRequest(ImageSource(url), partition: partition))
    }

    /// Removes what both caches hold for a request's source, in every size: the source with the request's identifier,
    /// partition and credentials. Of a file without an identifier, images of every state of the file are removed.
    ///
    /// Loads under way go on and deliver their image, but don't store it, and later loads don't join them.
    public func remove(_ request: ImageRequest) async {
        if let target = request.source.fileTarget, request.identifier == nil { resources.memory.remove(target: target) }
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

    /// Removes everything of a partition from both caches, such as all images of a user who has left. It goes through the
    /// keys of all stored responses.
    ///
    /// Loads under way, those of other partitions included, deliver their image, but don't store it.
    public func remove(partition: String) async {
        let digest = Digest(of: partition)
        for _ in 0..<2 {
            resources.flights.noteRemovalOfAll()
            resources.memory.remove { $0.isOf(partition: digest) }
            await resources.responses.remove { $0.isOf(partition: digest) }
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

extension ImageSource {
    /// What images of a file are removed by, whatever state the file was in; `nil` for other sources.
    var fileTarget: String? {
        if case .file(let path) = self { "file:\(path)" } else { nil }
    }
}
