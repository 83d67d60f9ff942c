import FoundationEssentials
import Pipeline
import Stages

// A loader under the server's cache control that reports in three steps, as UIImageLoader does.

/// Loads an image and tells what happens: what a cache has, that the origin is asked, and what it answered.
public func loadUnderServerControl(
    _ url: URL, loader: ImageLoader,
    hasCache: (DecodedImage, LoadSource) -> Void,
    sendingRequest: (_ didHaveCachedImage: Bool) -> Void,
    requestCompleted: (LoadError?, DecodedImage?, LoadSource?) -> Void
) async {
    let task = loader.task(for: url, options: LoadOptions(policy: .useProtocol))
    for await event in task.events {
        switch event {
        case .hasCache(let image, let source): hasCache(image, source)
        case .sendingRequest(let didHave): sendingRequest(didHave)
        case .requestCompleted(let error, let image, let source): requestCompleted(error, image, source)
        case .progress, .preview, .cancelled: break
        }
    }
}

/// A loader that asks an origin that answers with errors three times at most in a quarter of an hour.
public func loaderUnderServerControl(_ resources: PipelineResources) -> ImageLoader {
    var resources = resources
    resources.errorLimits = ErrorLimits(
        clientErrors: .init(attempts: 3, maxAge: .seconds(900)),
        serverErrors: .init(attempts: 3, maxAge: .seconds(900)))
    return ImageLoader(resources, defaults: LoadOptions(policy: .useProtocol))
}
