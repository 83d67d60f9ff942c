import Pipeline
import Stages

/// What the paths of one tenant are served with, or those of no tenant. Its plans, lists, failures and guard of its sources are
/// its own, and the partition of its requests keeps its entries in the shared caches apart.
struct ServedTenant: Sendable {
    /// `nil` for no tenant.
    let name: String?
    let keys: KeyRing
    let pictures: Pictures
    private let rate: RateLimit?

    /// - Parameters:
    ///   - configuration: The whole server's.
    ///   - tenant: The tenant; `nil` for none.
    ///   - loader: Its resources are shared by all tenants.
    ///   - queue: Limits the work of all tenants, and of each.
    init(_ configuration: ServerConfiguration, _ tenant: Tenant? = nil, loader: ImageLoader, queue: WorkQueue) {
        let own = tenant.map { configuration.serving($0) } ?? configuration
        name = tenant?.name
        keys = KeyRing(own.keys, isOpen: tenant == nil && configuration.isUnsigned)
        pictures = Pictures(own, loader: loader, keys: keys, queue: queue, partition: tenant?.name)
        rate = tenant.map {
            RateLimit(
                perSecond: $0.requestsPerSecond, burst: $0.burst, clock: loader.resources.clock,
                "The pictures of this customer are asked for too often.")
        }
    }

    /// Takes a token for a request whose signature is the tenant's.
    /// - Throws: 429 with the time until the next token.
    func takeToken() throws(Problem) { try rate?.take(for: "") }
}
