import AsyncHTTPClient
import FoundationEssentials
import PipelineAsyncHTTPClient
import Stages

/// What the page on the package shows.
func loadOnce(_ url: URL, keepingIn folder: String) async throws -> DecodedImage {
    let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .transfers)
    let client = AsyncHTTPTransferClient(http) { url in url.host() == "images.example" }
    let loader = ImageLoader(
        PipelineResources(memory: MemoryCache(), responses: HTTPCache(folder: folder), client: client))
    let image = try await loader.load(url).image
    await loader.shutdown()
    try await http.shutdown()
    return image
}
