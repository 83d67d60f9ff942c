import Foundation
import Testing

@Suite("pipectl's standard output")
struct OutputTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "photo.jpg")
    }

    @Test(
        "that can't be written is an error with status 1 in every verb",
        arguments: [
            "thumb photo.jpg -s 10 -o -", "convert photo.jpg - -f png", "load photo.jpg -o -", "info photo.jpg",
            "info photo.jpg --json", "plan", "thumb photo.jpg -s 10 -o a.png", "batch photo.jpg -s 10 -o out --json",
            "srcset photo.jpg -w 10", "run photo.jpg --ops circle -o b.png", "cache path", "cache stats", "doctor",
            "load photo.jpg", "thumb photo.jpg --dry-run", "--version", "--help", "help thumb", "--print-config",
            "--generate-completion-script bash", "cache prune", "cache verify", "prefetch -j 1 -- file:///x",
        ])
    func full(arguments: String) async throws {
        let result = try await pipectl.shell("pipectl \(arguments) >/dev/full")
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("standard output: Writing failed: No space left on device."))
        // A descriptor that was closed is no other: nothing may be written into a file that took its place.
        let closed = try await pipectl.shell("pipectl \(arguments) -y >&- || pipectl \(arguments) >&-")
        #expect(closed.status == 1)
    }

    @Test("whose reader has gone away is not an error")
    func closedPipe() async throws {
        let result = try await pipectl.shell(
            "(pipectl convert photo.jpg - -f png; echo $? >status) | head -c 1 >/dev/null")
        #expect(result.errors.isEmpty)
        #expect(String(decoding: try pipectl.content("status"), as: UTF8.self) == "0\n")
    }

    @Test("takes no image where it is a terminal")
    func terminal() async throws {
        let result = try await pipectl.shell(
            "script -qec 'pipectl thumb - -s 20 <photo.jpg' /dev/null; script -qec 'pipectl convert photo.jpg -' /dev/null"
        )
        #expect(result.text.components(separatedBy: "Standard output is a terminal").count == 3, "\(result.text)")
        #expect(!result.text.contains("PNG"))
    }

    @Test("one signal ends a write that nobody reads, with the signal's status", arguments: ["TERM", "INT", "HUP"])
    func blockedWrite(signal: String) async throws {
        let status = ["TERM": 143, "INT": 130, "HUP": 129][signal] ?? 0
        let result = try await pipectl.shell(
            """
            mkfifo pipe
            send() { env --default-signal=\(signal) timeout --preserve-status -s \(signal) 1 "$@"; echo $?; }
            send pipectl thumb photo.jpg -s 10 -f png -o pipe
            send pipectl run photo.jpg --pipeline pipe -o a.png
            send pipectl batch --files0-from pipe -o out
            {
                env --default-signal=\(signal) timeout --preserve-status -s \(signal) 2 \\
                    pipectl convert photo.jpg - -s 2000 -f tif
                echo $? >status
            } | { while [ ! -s status ]; do sleep 0.1; done; cat >/dev/null; }
            cat status
            """)
        #expect(
            result.lines.suffix(1) == ["\(status)"] && result.lines.filter { $0 == "\(status)" }.count == 4,
            "\(result.text) \(result.errors)")
    }
}
