import HTTPTypes
import Pipeline
import PipelineHTTP

extension BlobStore {
    /// Writes a small object twice, reads and deletes it.
    /// - Returns: Whether the store knows conditional writes, and whether it tells a missing object from one that may not be
    ///   read.
    /// - Throws: `LoadError` with `storeFailed`; `CancellationError` if the task is cancelled.
    func inspect() async throws -> (isConditional: Bool, tellsMissing: Bool) {
        let bytes = Array("pipeline inspection".utf8)
        let reference = BlobReference(to: bytes)
        do {
            return try await withDeadline { [self] in
                _ = try await status(of: try await send(.put, reference.name, bytes))
                let second = try await put(bytes, reference, isConditional: true)
                let read = try await send(.get, reference.name)
                guard read.status == 200 else { throw BlobFailure.status(read.status) }
                var body: [UInt8] = []
                for try await chunk in read.body where body.count <= bytes.count { body += chunk }
                guard body == bytes else { throw BlobFailure.other("it returned other bytes than were written") }
                let deleted = try await status(of: try await send(.delete, reference.name))
                guard 200..<300 ~= deleted else { throw BlobFailure.status(deleted) }
                let missing = try await status(of: try await send(.get, reference.name))
                return (second == 412, missing == 404)
            }
        } catch {
            try Task.checkCancellation()
            throw LoadError(
                .storeFailed, subject: "\(blobs.bucket)", "The bucket can't be used: \(BlobFailure(error)).")
        }
    }
}
