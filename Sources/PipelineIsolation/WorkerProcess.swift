import CSandbox
import LibC
import Pipeline
import PipelineImages

/// The program's side of one worker: its channel, its two slabs, and the means to kill it.
///
/// Unchecked, and safe: the pool gives a worker to one caller at a time, under its lock, and nobody else uses it. An idle one
/// is only woken, under the same lock.
final class WorkerProcess: @unchecked Sendable {
    /// What confines it, as it reported before its first image.
    let confinement: Confinement
    /// What it can decode.
    let preparation: Preparation
    /// The uptime in nanoseconds when it was started.
    let birth: Int64

    /// The helper that it was forked from, which lives as long as its workers.
    let helper: DecoderHelper
    /// The uptime in nanoseconds since which it has had no work.
    var idleSince: Int64
    /// The partition of all files that it has had.
    var partition: String?
    /// How many files it has had.
    private(set) var files = 0
    /// How many system calls its filter refused.
    private(set) var refusedCalls = 0

    private let channel: Int32
    private let process: csandbox_process
    /// The processor time that it had used when its last work was done.
    private var usedTime: Int64 = 0
    private let input: Slab
    let output: Slab
    private var sequence: Int64 = 0
    private var isGivenBack = false
    /// The file that the input slab holds. Holding on to the array keeps its address from being reused.
    private var file: [UInt8]?
    /// How many bytes of the input slab aren't zero.
    private var inputCount = 0

    /// The sizes of a worker's slabs.
    struct Sizes: Sendable {
        let input, output: Int
        /// Memory of a slab beyond this many bytes is given back after each image. What a photograph's thumbnail needs
        /// stays, since the system takes 0.3 ms to provide a megabyte.
        static let kept = 8 << 20
    }

    /// Starts a worker and waits until it is confined.
    init(
        of helper: DecoderHelper, _ plan: csandbox_plan, _ sizes: Sizes, clock: any LoadClock
    ) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        var memories: [Int32] = []
        var process = csandbox_process(number: 0, descriptor: -1)
        var slabs: [Slab] = []
        do throws(SystemError) {
            try check("make a socket", csandbox_channel(&ends))
            for (name, count) in [("pipeline-input", sizes.input), ("pipeline-output", sizes.output)] {
                let memory = csandbox_memory(name, count)
                if memory < 0 { throw SystemError("make shared memory", -memory) }
                memories.append(memory)
                slabs.append(try Slab(memory: memory, count: count, isWritable: true))
            }
            // The worker only reads files.
            try check("seal shared memory", csandbox_seal_writing(memories[0]))
            process = try helper.worker(plan, channel: ends[1], input: memories[0], output: memories[1])
            close(ends[1])
            ends[1] = -1
            var ready = Message(kind: 0)
            try check(
                "start a process for decoding",
                csandbox_receive(ends[0], &ready, MemoryLayout<Message>.size, 60_000))
            var numbers = ready.reader
            confinement = Confinement(rawValue: Int32((try? numbers.next(in: 0...0xffff)) ?? 0))
        } catch {
            for descriptor in ends + memories where descriptor >= 0 { close(descriptor) }
            if process.descriptor >= 0 {
                csandbox_kill(process.descriptor)
                close(process.descriptor)
            }
            for slab in slabs { slab.unmap() }
            throw error
        }
        for memory in memories { close(memory) }
        (input, output) = (slabs[0], slabs[1])
        (channel, self.process, self.helper) = (ends[0], process, helper)
        preparation = Preparation(rawValue: plan.preparation)
        birth = clock.uptimeNanoseconds
        idleSince = birth
    }

    /// Ends the worker, without waiting for its end: whoever drops a pool without closing it may be on any thread.
    deinit { giveBack() }

    /// Ends the worker without waiting for its end, and gives back its descriptors and memory. Whoever does so has it alone,
    /// and uses it no more. Another thread may hold the object a moment longer.
    func giveBack() {
        guard !isGivenBack else { return }
        isGivenBack = true
        csandbox_kill(process.descriptor)
        close(channel)
        close(process.descriptor)
        input.unmap()
        output.unmap()
    }

    /// Whether it waits for another request on the file that it has.
    var hasFile: Bool { file != nil }

    /// Whether the input slab holds this very array.
    func holds(_ bytes: [UInt8]) -> Bool {
        guard let file, file.count == bytes.count else { return false }
        return file.withUnsafeBufferPointer { held in
            bytes.withUnsafeBufferPointer { held.baseAddress == $0.baseAddress }
        }
    }

    /// Wakes the worker, which takes it tens of microseconds, for a request that comes in a moment. It must be idle.
    func wake() {
        var request = Message(kind: Message.Kind.wake.rawValue)
        _ = csandbox_send(channel, &request, MemoryLayout<Message>.size)
    }

    /// Why a request has no result. The worker has to be dropped.
    enum Failure: Error {
        /// The worker ended.
        case died
        /// It had ended before it got the file, after others.
        case hadEnded
        /// Its response breaks the rules.
        case malformed(String)
        /// It failed, maybe because of an image before.
        case spent(any Error)
        /// It lacks libraries for the file.
        case unprepared(Preparation)
    }

    /// Sends a file and a request, and waits for the response.
    /// - Parameters:
    ///   - keepsFile: Whether the same file is probably needed again.
    ///   - microseconds: How soon the response is expected; 0 if that is unknown.
    /// - Throws: ``Failure``; what `cancellation` throws, within some milliseconds; then the worker has been killed.
    func perform(
        _ request: consuming Message, on bytes: [UInt8], keepsFile: Bool, expectedWithin microseconds: Int,
        _ cancellation: WorkCancellation
    ) throws -> Message {
        var request = request
        (request.repeatsFile, request.keepsFile) = (holds(bytes), keepsFile)
        if !request.repeatsFile {
            if inputCount > bytes.count { input.clear(inputCount) }
            bytes.withUnsafeBytes { input.bytes.copyMemory(from: $0) }
            (file, inputCount, files) = (bytes, bytes.count, files + 1)
        }
        sequence += 1
        request.sequence = sequence
        var response = Message(kind: 0)
        // Responses that nobody asked for would be taken for the next one.
        let early = csandbox_receive(channel, &response, MemoryLayout<Message>.size, 0)
        guard early == EAGAIN else {
            let isUsed = files > (request.repeatsFile ? 0 : 1)
            throw end(early != EPIPE ? .malformed("a response that nobody asked for") : isUsed ? .hadEnded : .died)
        }
        guard csandbox_send(channel, &request, MemoryLayout<Message>.size) == 0 else { throw end(.died) }
        var status = csandbox_receive_soon(
            channel, &response, MemoryLayout<Message>.size, 10, Int32(clamping: microseconds))
        if status == EAGAIN { try checkTime(cancellation) }
        while status == EAGAIN {
            status = csandbox_receive(channel, &response, MemoryLayout<Message>.size, 10)
            if status == EAGAIN { try checkTime(cancellation) }
        }
        if !keepsFile { file = nil }
        guard status == 0 else { throw end(status == EPIPE ? .died : .malformed("a message of another size")) }
        guard response.sequence == sequence else { throw end(.malformed("a response to another request")) }
        return response
    }

    /// Kills the worker if nobody waits for its response any more.
    private func checkTime(_ cancellation: WorkCancellation) throws {
        guard cancellation.isCancelled else { return }
        end()
        try cancellation.check()
    }

    /// Counts what a response says of the worker itself.
    func note(refusedCalls count: Int) { refusedCalls = count }

    /// Clears what a request left in the slabs, except a file that is needed again.
    /// - Parameters:
    ///   - used: How many bytes the result has, as the worker says.
    ///   - now: The uptime in nanoseconds.
    func rest(used: Int, now: Int64) {
        idleSince = now
        output.clear(used)
        guard file == nil else { return }
        input.clear(inputCount)
        (inputCount, usedTime) = (0, csandbox_used_time(process.number))
        // A worker may have written more than it says.
        if files % Self.filesBetweenReleases == 0 { output.release() }
    }

    /// The number of files after which memory is given back that a worker used without saying so.
    static let filesBetweenReleases = 16

    /// Whether it has computed since its last image was done, for longer than it takes to clean up.
    var hasComputed: Bool { file == nil && csandbox_used_time(process.number) - usedTime > Self.cleaningTime }

    /// Nanoseconds of processor time, more than returning the memory of the largest image takes.
    private static let cleaningTime: Int64 = 100_000_000

    /// Kills the worker and waits until it has ended, so that its memory is free.
    func end() {
        csandbox_kill(process.descriptor)
        _ = csandbox_has_ended(process.descriptor, 10_000)
    }

    /// Does the same, and returns the reason.
    func end(_ reason: Failure) -> Failure {
        end()
        return reason
    }
}
