import CSandbox
import Essentials
import LibC
import Pipeline
import PipelineImages

/// The helper program: a fork server that has loaded the codecs, and forks a worker whenever it is asked to.
///
/// Its calls block for some milliseconds, so they belong on threads that may block. One call at a time.
final class DecoderHelper: Sendable {
    /// The version of the messages. The helper has to have the same.
    static let version = 4
    /// The bytes of the helper's first message: its version, what its codecs need, and their formats, as text.
    static let greetingBytes = 4096

    /// What a helper says that can't fork workers.
    static let hasThreads = "threads"

    /// The formats that the helper decodes.
    let formats: [ImageFormat]
    /// What it has to open for some of them.
    let needs: Preparation

    let process: Int32
    private let control: Int32
    private let hasEnded = Lock(false)

    /// Starts the helper.
    /// - Parameter path: Its program; `nil` for this program itself.
    /// - Throws: `LoadError` with `refused` if it can't be started or is of another version.
    init(path: String?) throws(LoadError) {
        var (process, control): (Int32, Int32) = (0, -1)
        let status = csandbox_spawn(path, &process, &control)
        let path = path ?? Self.program
        guard status == 0 else {
            throw LoadError(
                .refused, subject: path,
                "The program that decodes images can't be started (\(String(cString: strerror(status)))). Reinstall it."
            )
        }
        (self.process, self.control) = (process, control)
        do {
            (formats, needs) = try Self.greeting(control, path)
        } catch {
            (formats, needs) = ([], [])
            throw error
        }
    }

    deinit { end() }

    /// Ends the helper, and with it all its workers, unless that was done before.
    func end() {
        let hadEnded = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return hasEnded
        }
        guard !hadEnded else { return }
        close(control)
        // The end of the socket ends it too, unless a program forked without running another still holds the socket.
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    /// Forks a worker.
    func worker(
        _ plan: csandbox_plan, channel: Int32, input: Int32, output: Int32
    ) throws(SystemError) -> csandbox_process {
        var process = csandbox_process()
        try check(
            "start a process for decoding",
            csandbox_request_worker(
                control, csandbox_worker(channel: channel, input: input, output: output, plan: plan), &process))
        return process
    }

    private static func greeting(
        _ control: Int32, _ path: String
    ) throws(LoadError) -> ([ImageFormat], Preparation) {
        var text = [UInt8](repeating: 0, count: greetingBytes)
        guard csandbox_receive(control, &text, text.count, 60_000) == 0 else {
            throw LoadError(
                .refused, subject: path,
                "The program that decodes images didn't start. Run it by hand to see what it says, or reinstall it.")
        }
        let lines = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self).split(separator: "\n")
        guard lines.first != Self.hasThreads[...] else {
            throw LoadError(
                .refused, subject: path,
                "The program starts threads before it can decode images for another. Install \(name) next to yours, or name "
                    + "it in \(variable).")
        }
        guard lines.first == "pipeline-decoder \(version)", lines.count > 1, let needs = UInt64(lines[1]) else {
            throw LoadError(
                .refused, subject: path,
                "The program that decodes images is of another version than this one. Install both from one build.")
        }
        return (lines.dropFirst(2).map { ImageFormat(rawValue: String($0)) }, Preparation(rawValue: needs))
    }
}

extension DecoderHelper {
    /// The helper's file name.
    static let name = "pipeline-decoder"
    /// The variable of the environment that names the helper.
    static let variable = "PIPELINE_DECODER"

    /// Finds the helper: by a path, by the environment, next to the program, or in the `libexec` folder next to the
    /// program's.
    /// - Returns: `nil` if there is none and the program itself is one.
    /// - Throws: `LoadError` with `refused` if there is none.
    static func find(_ path: String?) throws(LoadError) -> String? {
        if let path = path ?? ProcessInfo.processInfo.environment[variable] {
            guard access(path, X_OK) == 0 else {
                throw LoadError(.refused, subject: path, "There is no program to decode images at this path.")
            }
            return path
        }
        let folder = program.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        for candidate in ["\(folder)/\(name)", "\(folder)/../libexec/\(name)"] where access(candidate, X_OK) == 0 {
            return candidate
        }
        if csandbox_can_divert() { return nil }
        throw LoadError(
            .refused, subject: "",
            "The program \(name) is missing next to this one. Install it there, or name it in \(variable).")
    }

    /// The path of the running program.
    private static var program: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        return String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
