import FoundationEssentials
import Pipeline
import Stages

// A loader under the server's cache control that reports in three steps, as UIImageLoader does.

/// Loads an image and reports the cached image, the request to the origin, and its result.
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

/// Makes a loader that stops asking for an image for a quarter of an hour after three errors in a row.
public func loaderUnderServerControl(_ resources: PipelineResources) -> ImageLoader {
    var resources = resources
    resources.errorLimits = ErrorLimits(
        clientErrors: .init(attempts: 3, maxAge: .seconds(900)),
        serverErrors: .init(attempts: 3, maxAge: .seconds(900)))
    return ImageLoader(resources, defaults: LoadOptions(policy: .useProtocol))
}
