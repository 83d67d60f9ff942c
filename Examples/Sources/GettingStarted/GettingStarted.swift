import FoundationEssentials
import Pipeline
import Stages

// The code of the documentation's page "Getting started".

/// Loads an image with the defaults.
public func loadAnImage(_ url: URL) async throws -> DecodedImage {
    let loader = try ImageLoader()
    let response = try await loader.load(url, options: .init(maxPixelSize: 640))
    print("\(response.image.size) from \(response.source.rawValue)")
    print(response.trace)
    return response.image
}

/// Returns the cached image, or `nil` if there is none.
public func cachedImage(_ url: URL, _ loader: ImageLoader) async throws -> DecodedImage? {
    do {
        let response = try await loader.load(url, options: .init(policy: .returnCacheDontLoad()))
        return response.image
    } catch let error as LoadError where error.code == .notCached {
        return nil
    }
}

/// A pipeline of your own: thumbnails as WebP files, cached in memory and on disk.
public func thumbnails(_ resources: PipelineResources) -> ImagePipeline {
    ImagePipeline {
        ResolveIdentifier()
        MemoryLookup(resources.memory)
        FollowRedirects {
            Lookup(resources.responses)
            Fetch(resources.client)
            Decode()
            Downscale()
            Encode(.webp)
            Store(resources.memory, resources.responses)
        }
    }
}

/// Returns the bytes of a thumbnail that fits 200×200 pixels.
public func thumbnail(of url: URL, _ resources: PipelineResources) async throws -> [UInt8]? {
    let request = ImageRequest(url, maxPixelSize: 200)
    let response = try await thumbnails(resources).load(request)
    return response.encoded?.bytes
}
