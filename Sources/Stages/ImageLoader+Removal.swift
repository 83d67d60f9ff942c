public import Essentials
public import Pipeline

extension ImageLoader {
    /// Removes an identifier's entries from both caches.
    public func remove(identifier: String, partition: String? = nil) async {
        await remove(ImageRequest(.bytes([]), identifier: identifier, partition: partition))
    }

    /// Removes a URL from both caches, in every size: the entries without a partition or credentials, and every
    /// response that came from exactly this URL, whatever its identifier, partition or credentials.
    ///
    /// For a `file:` URL, images of every state of the file are removed. Targets of redirects are removed too if they
    /// are stored without a partition or credentials.
    public func remove(_ url: URL) async {
        await remove(ImageRequest(ImageSource(url)))
        resources.memory.remove(target: url.targetText)
        await resources.responses.remove(url: url)
    }

    /// Removes a URL's entries in one partition from both caches, in every size, if they were requested without
    /// credentials.
    public func remove(_ url: URL, partition: String) async {
        await remove(ImageRequest(ImageSource(url), partition: partition))
    }

    /// Removes a request's source, with its identifier, partition and credentials, from both caches, in every size. For
    /// a file without an identifier, images of every state of the file are removed.
    ///
    /// Loads under way still deliver their image but don't store it, and later loads don't join them.
    public func remove(_ request: ImageRequest) async {
        if let target = request.source.fileTarget, request.identifier == nil {
            resources.memory.remove(target: target)
            await resources.responses.remove(target: target)
        }
        guard let key = await SourceKey.resolved(request, credentials: resources.credentials) else { return }
        resources.flights.noteRemoval(of: key)
        resources.memory.remove(key)
        // The target of a redirect is the image that was meant.
        let keys = [key] + (await resources.responses.remove(request, key))
        // Loads that began meanwhile may have found what was about to be removed.
        for key in keys {
            resources.flights.noteRemoval(of: key)
            resources.memory.remove(key)
        }
    }

    /// Removes everything of a partition from both caches, such as all images of a former user. This scans the
    /// keys of all stored responses.
    ///
    /// Loads under way, including those of other partitions, still deliver their image but don't store it.
    public func remove(partition: String) async {
        let digest = BLAKE2bDigest(of: partition)
        for _ in 0..<2 {
            resources.flights.noteRemoval(of: nil)
            resources.memory.remove { $0.isOf(partition: digest) }
            await resources.responses.remove { $0.isOf(partition: digest) }
        }
    }

    /// Removes everything from both caches. Loads under way are cancelled first.
    ///
    /// Loads that begin before this returns deliver their image, but perhaps don't store it. They aren't waited for.
    public func removeAll() async {
        await resources.flights.cancelAll()
        resources.flights.noteRemoval(of: nil)
        resources.memory.reset()
        await resources.responses.removeAll()
        // Loads that began meanwhile may have found what was about to be removed.
        resources.flights.noteRemoval(of: nil)
        resources.memory.reset()
    }

    /// Removes expired entries from both caches. In memory, the loader's default expiry decides.
    public func cleanUp() async {
        resources.memory.removeExpired(defaults.expiry, now: resources.clock.now)
        await resources.responses.cleanUp(.expired)
    }
}
