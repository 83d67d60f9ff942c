import Pipeline
import PipelineImages

extension DecoderPool {
    /// Does a request in a worker and reads its result.
    /// - Parameters:
    ///   - decoder: The decoder of the file's codec and partition.
    ///   - body: Reads the response, with the worker's results in the slab.
    /// - Throws: `LoadError`; what `cancellation` throws.
    func perform<Result>(
        _ request: Message, on bytes: [UInt8], by decoder: IsolatedDecoder, keepsFile: Bool = false,
        expectedWithin microseconds: Int = 0, _ cancellation: WorkCancellation,
        _ body: (Message, Slab) throws -> Result
    ) throws -> Result {
        func attempt() throws -> Result {
            try prepared(for: decoder.codec) { preparation in
                let need = Need(bytes: bytes, preparation: preparation, partition: decoder.partition)
                return try self.attempt(request, need, keepsFile, microseconds, cancellation, body)
            }
        }
        guard bytes.count <= start.sizes.input else {
            throw LoadError(
                .tooManyBytes, subject: "",
                "The file has \(bytes.count) bytes; \(start.sizes.input) are allowed. Raise the pool's limit of bytes.")
        }
        // The digest of a large file takes milliseconds, so it is only calculated for files of a refused one's size.
        if state.withLock({ $0.refused.hasFile(of: bytes.count) }) {
            let (digest, now) = (BLAKE2bDigest(of: bytes), start.clock.uptimeNanoseconds)
            if state.withLock({ $0.refused.contains(digest, now: now) }) { throw RefusedFiles.error }
        }
        do {
            return try attempt()
        } catch is WorkerProcess.Failure {
            // The system may have killed it because memory ran out, or a user by hand.
            do {
                return try attempt()
            } catch let failure as WorkerProcess.Failure {
                // A new worker has said the same.
                if case .spent(let error) = failure { throw error }
                let (digest, now) = (BLAKE2bDigest(of: bytes), start.clock.uptimeNanoseconds)
                state.withLock { $0.refused.insert(digest, count: bytes.count, now: now) }
                throw Self.error(failure)
            }
        }
    }

    /// Wakes a worker for a request that comes in a moment.
    func wakeWorker() {
        // Under the lock nobody can take the worker and end it. The call is one that never waits.
        state.withLock { $0.idle.last?.wake() }
    }

    /// Does work for a codec in a worker that has what it needs. If the file needs more, that is opened for a new worker,
    /// which does the work again.
    private func prepared<Result>(for codec: Int, _ work: (Preparation) throws -> Result) throws -> Result {
        let needed = needs.intersection(.codec(codec))
        do {
            return try work(needed)
        } catch WorkerProcess.Failure.unprepared(let lacking) {
            do {
                return try work(needed.union(lacking))
            } catch WorkerProcess.Failure.unprepared {
                // Everything, so that no worker can ask for ever.
                return try work(Preparation(rawValue: .max))
            }
        }
    }

    private func attempt<Result>(
        _ request: Message, _ need: Need, _ keepsFile: Bool, _ microseconds: Int,
        _ cancellation: WorkCancellation, _ body: (Message, Slab) throws -> Result
    ) throws -> Result {
        let worker = try claim(for: need, cancellation)
        worker.partition = need.partition
        let response: Message
        let result: Swift.Result<Result, any Error>
        do {
            response = try worker.perform(
                request, on: need.bytes, keepsFile: keepsFile, expectedWithin: microseconds, cancellation)
            do {
                result = .success(try body(response, worker.output))
            } catch let error as Message.Malformed {
                throw worker.end(.malformed(error.description))
            } catch {
                // The decoder's own error.
                result = .failure(error)
            }
        } catch WorkerProcess.Failure.hadEnded {
            // The file had no part in that.
            dropDead(worker)
            return try attempt(request, need, keepsFile, microseconds, cancellation, body)
        } catch let failure as WorkerProcess.Failure {
            dropDead(worker)
            throw failure
        } catch {
            drop(worker) { $0.kills += 1 }
            throw error
        }
        worker.rest(used: response.used, now: start.clock.uptimeNanoseconds)
        let lacking = Preparation(rawValue: response.lacking).subtracting(worker.preparation)
        release(worker, response, isUnfit: !lacking.isEmpty)
        guard lacking.isEmpty else { throw WorkerProcess.Failure.unprepared(lacking) }
        if response.isSpent, case .failure(let error) = result { throw WorkerProcess.Failure.spent(error) }
        return try result.get()
    }

    private static func error(_ failure: WorkerProcess.Failure) -> any Error {
        switch failure {
        case .spent(let error): error
        case .unprepared:
            LoadError(
                .undecodable, subject: "", "No process that decodes has the libraries of the file. See pipectl doctor.")
        case .died, .hadEnded:
            LoadError(
                .undecodable, subject: "", "The file ended the process that decoded it, twice. Get a new copy.")
        case .malformed(let reason):
            LoadError(
                .undecodable, subject: "",
                "The process that decoded the file returned an invalid result (\(reason)). Get a new copy of the file.")
        }
    }
}
