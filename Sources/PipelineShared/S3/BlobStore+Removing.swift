import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

extension BlobStore {
    /// The most bytes of a page of the list, which has up to a thousand keys.
    private static let pageBytes = 8_000_000
    /// How many objects are deleted concurrently. Not every store deletes several by one request.
    private static let width = 8

    /// Deletes every object below the prefix that is named by a digest, whatever Redis knows of it.
    /// - Returns: The number of objects.
    /// - Throws: `LoadError` with `storeFailed`; `CancellationError` if the task is cancelled.
    func removeAll() async throws -> Int {
        do {
            var (count, token) = (0, String?.none)
            repeat {
                let last = token
                let page = try await withDeadline { try await self.page(after: last) }
                try await remove(page.names)
                count += page.names.count
                token = page.next
                if token != nil, token == last { throw BlobFailure.other("its list of objects doesn't end") }
            } while token != nil
            return count
        } catch {
            try Task.checkCancellation()
            let why = BlobFailure(error)
            let advice =
                if case .status(403) = why { " Allow these credentials s3:ListBucket and s3:DeleteObject." } else { "" }
            throw LoadError(
                .storeFailed, subject: "\(blobs.bucket)", "Its objects can't be removed: \(why).\(advice)")
        }
    }

    private func remove(_ names: [String]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, name) in names.enumerated() {
                if index >= Self.width { _ = try await group.next() }
                group.addTask {
                    let status = try await self.withDeadline {
                        try await self.status(of: try await self.send(.delete, name))
                    }
                    guard 200..<300 ~= status || status == 404 else { throw BlobFailure.status(status) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// A page of the list (`ListObjectsV2`): the names, and the token of the next page; `nil` at the end.
    private func page(after token: String?) async throws -> (names: [String], next: String?) {
        let prefix = blobs.bucket.prefix.isEmpty ? "" : SignatureV4.decoded(blobs.bucket.prefix) + "/"
        var query = "list-type=2&delimiter=%2F&prefix=\(SignatureV4.encode(Array(prefix.utf8)))"
        if let token { query += "&continuation-token=\(SignatureV4.encode(Array(token.utf8)))" }
        guard let url = blobs.bucket.listURL(query) else { throw BlobFailure.status(404) }
        let response = try await blobs.requests.send(TransferRequest(url: url, maximumRedirects: 0, addresses: .any))
        guard response.status == 200 else { throw BlobFailure.status(response.status) }
        var body: [UInt8] = []
        for try await chunk in response.body {
            body += chunk
            guard body.count <= Self.pageBytes else { throw BlobFailure.other("its list of objects is too long") }
        }
        return try Self.page(of: String(decoding: body, as: UTF8.self))
    }

    /// Reads a page of the list.
    static func page(of text: String) throws -> (names: [String], next: String?) {
        guard let isCut = XMLText.element("IsTruncated", of: text[...]) else {
            throw BlobFailure.other("its list of objects is malformed")
        }
        let names = text.split(separator: "<Key>").dropFirst().compactMap { part -> String? in
            guard let key = part.firstRange(of: "</Key>").map({ part[..<$0.lowerBound] }) else { return nil }
            let name = key.suffix(64)
            // The prefix is that which was asked for. It may be escaped, so it isn't compared.
            guard name.utf8.count == 64, name.utf8.allSatisfy(isDigit), key.dropLast(64).last ?? "/" == "/" else {
                return nil
            }
            return String(name)
        }
        guard isCut == "true" else { return (names, nil) }
        guard let next = XMLText.element("NextContinuationToken", of: text[...]) else {
            throw BlobFailure.other("its list of objects is malformed")
        }
        return (names, XMLText.unescaped(next))
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
