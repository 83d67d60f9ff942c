import Foundation
import PipelineTesting
import Stages

// A program that shows previews of a picture while it arrives, for a test that watches which of its functions are called.
// Prints how many previews there were.

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]) else {
    print("usage: PreviewTrial FILE BYTES FOLDER")
    exit(64)
}
let file = [UInt8](try Data(contentsOf: URL(filePath: arguments[1])))
let gate = try ScriptedOrigin.Gate()
let origin = try ScriptedOrigin { _ in .init(body: file).held(until: gate, after: count) }
let resources = PipelineResources(
    memory: MemoryCache(), responses: HTTPCache(folder: arguments[3]), client: CurlClient(.init(addresses: .any)),
    isolation: .required)
let loader = try ImageLoader(resources, defaults: LoadOptions(maxPixelSize: 100)) { policy, resources in
    policy.pipeline(resources).replacing(
        Fetch.self, with: Preview(minimumBytes: 1000) { Fetch(resources.client) }, where: .present)
}
let task = loader.task(for: origin.url("/picture"))
var previews = 0
for await event in task.events {
    guard case .preview = event else { continue }
    previews += 1
    // The rest arrives after the first preview.
    gate.open()
}
let image = try await task.response.image
print("\(previews > 0 ? "previews" : "no preview"), then \(image.size)")
await loader.shutdown()
