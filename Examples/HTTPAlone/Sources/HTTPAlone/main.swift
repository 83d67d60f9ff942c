import Foundation
import PipelineHTTP

// Loads a URL through a private cache in a folder (RFC 9111), and prints what the cache did: HTTPAlone URL FOLDER
guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
    print("Usage: HTTPAlone URL FOLDER")
    exit(2)
}
let client = CachingClient(cache: HTTPCache(folder: CommandLine.arguments[2]), client: CurlClient())
let response = try await client.send(CachingRequest(url: url))
print("\(response.status), \(response.body.count) bytes, \(response.use)")
await client.drain()
