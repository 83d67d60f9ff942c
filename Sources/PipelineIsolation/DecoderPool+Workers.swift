import Pipeline

extension DecoderPool {
    /// What a worker is needed for.
    struct Need {
        let bytes: [UInt8]
        let preparation: Preparation
        let partition: String?

        /// Whether a worker has the libraries, and has seen no image of another partition.
        func isMet(by worker: WorkerProcess) -> Bool {
            worker.preparation.isSuperset(of: preparation) && (worker.files == 0 || worker.partition == partition)
        }
    }

    private enum Claim {
        case worker(WorkerProcess)
        /// A worker is to be started, by a new helper if there is none, in the place of another.
        case start(DecoderHelper?, Preparation, instead: WorkerProcess?)
        case closed
    }

    /// Takes an idle worker, best one that has the file already, or starts one, or waits for one.
    func claim(for need: Need, _ cancellation: WorkCancellation) throws -> WorkerProcess {
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

    /// Makes a worker idle after a request, or ends it if it is old, unfit, or of another helper.
    func release(_ worker: WorkerProcess, _ response: Message, isUnfit: Bool) {
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

    /// Forgets a worker that died, and counts its death.
    func dropDead(_ worker: WorkerProcess) {
        let now = start.clock.uptimeNanoseconds
        drop(worker) { $0.deaths += 1 }
        state.withLock { $0.crashes.note(now: now) }
    }

    /// Gives a worker back that is of no more use.
    func drop(_ worker: WorkerProcess, _ count: (inout Statistics) -> Void) {
        worker.giveBack()
        state.withLock(wake: .all) { state in
            state.count -= 1
            count(&state.statistics)
        }
    }
}
