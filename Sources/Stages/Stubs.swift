public import FoundationEssentials
public import HTTPTypes
public import Pipeline
public enum CacheRules: Sendable { case asRequested, http }
public struct StoredResponse: Sendable { var conditionalFields: HTTPFields { [:] }; var image: EncodedImage { EncodedImage(bytes: []) }; var validity: Validity { .unlimited }; var generation: Int64 { 0 } }
public struct HTTPExchange: Sendable { init(url: URL, requestHeaders: HTTPFields, status: Int, headers: HTTPFields, requestTime: Date, responseTime: Date, body: [UInt8]) {}
  func validity(_ expiry: Expiry, _ rules: CacheRules) -> Validity? { .unlimited } }
struct StoredEntry: LoadAttachment { let response: StoredResponse }
struct StaleEntry: LoadAttachment { let response: StoredResponse }
public final class HTTPCache: Sendable {
  public init(folder: String, byteLimit: Int = 1, clock: any LoadClock = SystemClock()) {}
  public static var defaultFolder: String { get throws { "" } }
  public func evict(_ s: StoredResponse) async {}
  public func remove(_ k: SourceKey) async {}
  public func removeAll() async {}
  public func removeExpired() async {}
  public func close() async {}
  func commit(_ e: HTTPExchange, for key: SourceKey, expiry: Expiry, rules: CacheRules) async -> StoredResponse? { nil }
  func freshen(_ s: StoredResponse, headers: HTTPFields, requestTime: Date, responseTime: Date, expiry: Expiry, rules: CacheRules) async -> StoredResponse { s }
}
public struct DiskLookup: Stage { public init(_ r: HTTPCache, rules: CacheRules = .asRequested) {}; public var accepts: Phases { .empty }; public var produces: Phases { [.empty, .original] }; public func run(_ load: inout Load) async throws -> Outcome { .miss } }
public enum AP: Sendable { case any }
public struct CurlClient: HTTPClient { public init(addresses: AP = .any) {}; public func send(_ r: TransferRequest) async throws -> TransferResponse { throw CancellationError() } }
