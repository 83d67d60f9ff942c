import CSandbox
import Essentials
import LibC
import Pipeline
public import PipelineImages

/// The helper program of a ``DecoderPool``.
///
/// The package has one for its own formats, `pipeline-decoder`. A program with a format of its own makes another, of one
/// file, and names it as the pool's `helper`:
///
/// ```swift
/// import PipelineIsolation
///
/// DecoderWorker.main(codecs: DecoderWorker.codecs.adding(.qoi))
/// ```
public enum DecoderWorker {
    /// The package's own formats, SVG and JPEG XL included.
    public static let codecs = ImageCodecs.known

    /// Serves a pool until the program that started this one ends. Doesn't return.
    ///
    /// Call it from `main.swift` before anything else: only a process with one thread can fork workers.
    /// - Parameter codecs: The formats that workers decode.
    public static func main(codecs: ImageCodecs = codecs) -> Never {
        let control: Int32 = 3
        var kind: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(control, SOL_SOCKET, SO_TYPE, &kind, &size) == 0, kind == Socket.messages else {
            print(
                "This program decodes images for others, which start it themselves: see DecoderPool and pipectl --isolate."
            )
            exit(64)
        }
        csandbox_settle_malloc()
        DecodingProcess.isCurrent = true
        BlockingThreads.isAlone = true
        DecodingProcess.prepare()
        let onDemand = Preparation(of: codecs)
        for (place, codec) in codecs.codecs.enumerated() where onDemand.isDisjoint(with: .codec(place)) {
            codec.decoder.prepare()
        }
        var lines = ["pipeline-decoder \(DecoderHelper.version)", "\(onDemand.rawValue)"]
        #if !SANITIZE  // Its runtime has a thread of its own.
        if !csandbox_has_one_thread() { lines = [DecoderHelper.hasThreads] }
        #endif
        lines += codecs.codecs.map(\.format.rawValue)
        var greeting = Array(lines.joined(separator: "\n").utf8.prefix(DecoderHelper.greetingBytes - 1))
        greeting += [UInt8](repeating: 0, count: DecoderHelper.greetingBytes - greeting.count)
        guard csandbox_send(control, greeting, greeting.count) == 0 else { exit(1) }
        var worker = csandbox_worker()
        let server = Server(codecs)
        let isWorker = csandbox_serve(
            control, &worker,
            { preparation, server in
                guard let server else { return }
                Unmanaged<Server>.fromOpaque(server).takeUnretainedValue().open(Preparation(rawValue: preparation))
            }, Unmanaged.passUnretained(server).toOpaque())
        guard isWorker else { exit(0) }
        DecodingProcess.seal()
        work(worker, codecs)
    }

    /// The fork server's own state.
    private final class Server {
        private let codecs: ImageCodecs
        private var opened: Preparation = []

        init(_ codecs: ImageCodecs) { self.codecs = codecs }

        /// Opens what isn't open yet.
        func open(_ preparation: Preparation) {
            let missing = preparation.subtracting(opened)
            guard !missing.isEmpty else { return }
            opened.formUnion(missing)
            missing.open(for: codecs)
            // A library's thread may be ending.
            _ = csandbox_has_one_thread()
        }
    }

    private static func work(_ worker: csandbox_worker, _ codecs: ImageCodecs) -> Never {
        guard let input = Slab(received: worker.input, isWritable: false),
            let output = Slab(received: worker.output, isWritable: true)
        else { _exit(1) }
        close(worker.input)
        close(worker.output)
        if worker.plan.gives_way { Thread.giveWay() }
        var ready = Message(kind: 0)
        ready.append(Int(csandbox_confine(worker.plan, worker.channel)))
        var loop = WorkerLoop(codecs: codecs, input: input, output: output)
        guard csandbox_send(worker.channel, &ready, MemoryLayout<Message>.size) == 0 else { _exit(0) }
        var request = Message(kind: 0)
        var attempts: Int32 = 0
        while csandbox_receive_soon(worker.channel, &request, MemoryLayout<Message>.size, -1, attempts) == 0 {
            let kind = Message.Kind(rawValue: request.kind)
            // The request for the pixels mostly follows that for the header at once.
            attempts = kind == .wake || kind == .header ? 50 : 0
            if kind == .wake { continue }
            var response = loop.response(to: request)
            guard csandbox_send(worker.channel, &response, MemoryLayout<Message>.size) == 0 else { break }
            loop.clean(after: request)
        }
        // Nothing is flushed or run at exit.
        _exit(0)
    }
}

extension Slab {
    /// Maps memory that another process made.
    fileprivate init?(received memory: Int32, isWritable: Bool) {
        var status = stat()
        guard fstat(memory, &status) == 0 else { return nil }
        try? self.init(memory: memory, count: Int(status.st_size), isWritable: isWritable)
    }
}

/// Serves as the helper in a copy of the program, which was started by `csandbox_spawn` and never gets to its `main`.
@_cdecl("csandbox_main")
func serveInsteadOfMain() { DecoderWorker.main() }
