import LibC
import Pipeline

/// A terminal's reply to a question about its abilities.
struct TerminalAnswer: Equatable {
    var hasKitty = false
    var hasSixel = false
    /// A character's size in pixels.
    var cell: PixelSize?

    /// Asks for kitty's graphics, a character's size and the device's attributes, which every terminal answers last.
    private static let question = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t\u{1B}[c"

    /// Reads the terminal's reply. Unknown parts are ignored.
    init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        for part in text.split(separator: "\u{1B}") {
            if part.hasPrefix("_G"), part.hasSuffix(";OK"), part.contains("i=31") { hasKitty = true }
            if part.hasPrefix("[?"), let end = part.firstIndex(of: "c") {
                hasSixel = part[..<end].dropFirst(2).split(separator: ";").dropFirst().contains("4")
            }
            if part.hasPrefix("[6;"), let end = part.firstIndex(of: "t") {
                let numbers = part[..<end].dropFirst(3).split(separator: ";").compactMap { Int($0) }
                if numbers.count == 2, numbers.allSatisfy({ 1...1000 ~= $0 }) {
                    cell = PixelSize(width: numbers[1], height: numbers[0])
                }
            }
        }
    }

    /// Whether the device's attributes have come.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard let start = bytes.lastIndex(of: 0x1B) else { return false }
        return bytes[start...].starts(with: "\u{1B}[?".utf8) && bytes.last == UInt8(ascii: "c")
    }

    /// Asks the terminal that the program was started from. Without one, or in the background, the reply is empty.
    /// - Parameter milliseconds: How long the terminal may take to reply.
    init(askingFor milliseconds: Int32 = 500) {
        self.init([])
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return }
        defer { close(terminal) }
        var before = termios()
        // In the background, changing the terminal would stop the program.
        guard tcgetpgrp(terminal) == getpgrp(), tcgetattr(terminal, &before) == 0 else { return }
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(terminal, TCSAFLUSH, &raw)
        // Drops a late reply, which the shell would otherwise take for input.
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        guard StandardStream.write(Array(Self.question.utf8), to: terminal) == 0 else { return }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while !Self.isWhole(answer), answer.count < 4096, !Interruption.isRequested {
            let rest = (end - ContinuousClock.now) / .milliseconds(1)
            guard rest > 0 else { break }
            var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(min(rest.rounded(.up), 50))) > 0 else { continue }
            let count = read(terminal, &chunk, chunk.count)
            guard count > 0 else { break }
            answer += chunk[..<count]
        }
        self.init(answer)
    }
}
