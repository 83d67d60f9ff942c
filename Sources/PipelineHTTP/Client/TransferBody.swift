/// The content of a response, in the chunks in which it arrives. It can be read once.
public struct TransferBody: AsyncSequence, Sendable {
    /// A chunk of bytes, never empty.
    public typealias Element = [UInt8]

    private let next: @Sendable () async throws -> [UInt8]?

    /// Makes a body of a closure that returns the next chunk, or `nil` at the end.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) { self.next = next }

    /// Makes a body of bytes in memory.
    public init(_ bytes: [UInt8]) {
        let rest = BodyRest(bytes)
        self.init { rest.take() }
    }

    /// Reads the body's chunks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let chunk: @Sendable () async throws -> [UInt8]?

        /// The next chunk, or `nil` at the end.
        /// - Throws: `LoadError` if the transfer breaks; `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> [UInt8]? { try await next(isolation: #isolation) }

        /// The next chunk, without leaving the reader's actor.
        /// - Parameter actor: the reader's.
        /// - Returns: `nil` at the end.
        /// - Throws: `LoadError` if the transfer breaks; `CancellationError` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            try await chunk()
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunk: next) }
}
