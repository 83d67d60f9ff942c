import Hummingbird
import Stages

// Images come from public addresses, and from the hosts and networks that the arguments name.
let addresses = try AddressPolicy.publicOnly(allowing: Array(CommandLine.arguments.dropFirst()))
let loader = try ImageLoader(cacheFolder: "cache", allowing: .remote, addresses: addresses)
try await Application(router: thumbnails(loader)).runService()
await loader.shutdown()
