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

    /// What a worker is needed for.
    private struct Need {
        let bytes: [UInt8]
        let preparation: Preparation
        let partition: String?

        /// Whether a worker has the libraries, and has seen no image of another partition.
        func isMet(by worker: WorkerProcess) -> Bool {
            worker.preparation.isSuperset(of: preparation) && (worker.files == 0 || worker.partition == partition)
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

    private enum Claim {
        case worker(WorkerProcess)
        /// A worker is to be started, by a new helper if there is none, in the place of another.
        case start(DecoderHelper?, Preparation, instead: WorkerProcess?)
        case closed
    }

    /// Takes an idle worker, best one that has the file already, or starts one, or waits for one.
    private func claim(for need: Need, _ cancellation: WorkCancellation) throws -> WorkerProcess {
        var claim: Claim?
        while claim == nil {
            try cancellation.check()
            // A clock may have a lock of its own.
            let now = start.clock.uptimeNanoseconds
            claim = state.wait(milliseconds: 10) { self.claim(for: need, now: now, &$0) }
        }
        switch claim {
        case .worker(let worker):
            guard worker.hasComputed else { return worker }
            drop(worker) { $0.kills += 1 }
            return try self.claim(for: need, cancellation)
        case .start(let helper, let preparation, let old):
            old?.end()
            old?.giveBack()
            return try startWorker(helper, preparation)
        case .closed, nil:
            throw LoadError(
                .refused, subject: "", "The pool of processes that decode images is closed. Use another pool.")
        }
    }

    private func claim(for need: Need, now: Int64, _ state: inout State) -> Claim? {
        if state.isClosed { return .closed }
        let next =
            state.idle.lastIndex { $0.holds(need.bytes) && need.isMet(by: $0) }
            ?? state.idle.lastIndex { $0.files < start.imagesPerWorker && need.isMet(by: $0) }
        if let next { return .worker(state.idle.remove(at: next)) }
        guard !state.isStarting, !state.crashes.pauses(now: now) else { return nil }
        var old: WorkerProcess?
        if state.count < workers {
            state.count += 1
        } else {
            // It waits for another request on a file of which this load isn't, lacks a library, or is another partition's.
            guard !state.idle.isEmpty else { return nil }
            old = state.idle.removeFirst()
        }
        state.isStarting = true
        state.preparation.formUnion(need.preparation)
        guard state.crashes.needHelper else { return .start(state.helper, state.preparation, instead: old) }
        state.crashes.needHelper = false
        state.statistics.restarts += 1
        return .start(nil, state.preparation, instead: old)
    }

    /// Starts a worker, and the helper too if it has ended.
    private func startWorker(_ helper: DecoderHelper?, _ preparation: Preparation) throws -> WorkerProcess {
        do {
            let (helper, worker) = try started(by: helper, preparation)
            let ended = state.withLock(wake: .all) { state -> (DecoderHelper?, [WorkerProcess]) in
                state.isStarting = false
                state.statistics.started += 1
                defer { state.helper = helper }
                let others = state.idle.filter { $0.helper !== helper }
                state.idle.removeAll { $0.helper !== helper }
                state.count -= others.count
                return (state.helper, others)
            }
            // They are released, and their processes collected, after the lock.
            _ = ended
            return worker
        } catch {
            state.withLock(wake: .all) { ($0.isStarting, $0.count) = (false, $0.count - 1) }
            throw (error as? SystemError)?.refusal ?? error
        }
    }

    private func started(
        by helper: DecoderHelper?, _ preparation: Preparation
    ) throws -> (DecoderHelper, WorkerProcess) {
        if let helper, let worker = try? start.worker(of: helper, preparation) { return (helper, worker) }
        let (_, helper, worker) = try start.processes(preparation)
        return (helper, worker)
    }

    private func release(_ worker: WorkerProcess, _ response: Message, isUnfit: Bool) {
        let isOld =
            isUnfit || response.isSpent || worker.files >= start.imagesPerWorker && !worker.hasFile
            || .nanoseconds(start.clock.uptimeNanoseconds - worker.birth) >= start.age
        let refused = max(0, response.refusedCalls &- worker.refusedCalls)
        worker.note(refusedCalls: response.refusedCalls)
        let isOver = state.withLock(wake: .all) { state in
            state.statistics.requests += 1
            if refused > 0 {
                state.statistics.refusedCalls &+= refused
                state.statistics.lastRefusedCall = Int(response.lastRefusedCall)
            }
            let isOver = isOld || state.isClosed || worker.helper !== state.helper
            if !isOver { state.idle.append(worker) }
            return isOver
        }
        guard isOver else { return watchIdle() }
        worker.end()
        worker.giveBack()
        state.withLock(wake: .all) { $0.count -= 1 }
    }

    private func dropDead(_ worker: WorkerProcess) {
        let now = start.clock.uptimeNanoseconds
        drop(worker) { $0.deaths += 1 }
        state.withLock { $0.crashes.note(now: now) }
    }

    private func drop(_ worker: WorkerProcess, _ count: (inout Statistics) -> Void) {
        worker.giveBack()
        state.withLock(wake: .all) { state in
            state.count -= 1
            count(&state.statistics)
        }
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
