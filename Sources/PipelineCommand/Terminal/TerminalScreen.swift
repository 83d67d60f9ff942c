import Foundation
import LibC
import Pipeline
import Stages

/// The space for an image in the terminal, and the method that shows it.
struct TerminalScreen: Sendable {
    /// The box that images are shrunk to, in pixels. A half block is one pixel.
    let box: Geometry
    private let graphics: ViewCommand.Graphics
    private let isTrueColor: Bool

    /// - Parameters:
    ///   - columns: The width of an image in characters; `nil` for the terminal's.
    ///   - rows: The height of an image in lines; `nil` for the terminal's less two, which the prompt needs.
    init(_ graphics: ViewCommand.Graphics, columns: Int?, rows: Int?) {
        let answer = graphics == .blocks ? TerminalAnswer([]) : TerminalAnswer()
        self.graphics = graphics == .auto ? Self.best(answer) : graphics
        var window = winsize()
        _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window)
        let columns = columns ?? (window.ws_col > 0 ? Int(window.ws_col) : 80)
        let rows = rows ?? max(1, (window.ws_row > 0 ? Int(window.ws_row) : 24) - 2)
        var cell = answer.cell ?? PixelSize(width: 8, height: 16)
        if window.ws_xpixel > 0, window.ws_ypixel > 0, window.ws_col > 0, window.ws_row > 0 {
            cell = PixelSize(
                width: max(1, Int(window.ws_xpixel / window.ws_col)),
                height: max(1, Int(window.ws_ypixel / window.ws_row)))
        }
        if self.graphics == .blocks { cell = PixelSize(width: 1, height: 2) }
        box = Geometry(shrinkingInto: PixelSize(width: columns * cell.width, height: rows * cell.height))
        let colors = Environment["COLORTERM"] ?? ""
        isTrueColor = colors == "truecolor" || colors == "24bit"
    }

    private static func best(_ answer: TerminalAnswer) -> ViewCommand.Graphics {
        if answer.hasKitty { return .kitty }
        // The first variable is also set on other machines, through SSH.
        let programs = [Environment["LC_TERMINAL"], Environment["TERM_PROGRAM"]]
        if programs.contains(where: { ["iTerm2", "iTerm.app", "WezTerm"].contains($0) }) { return .iterm }
        return answer.hasSixel ? .sixel : .blocks
    }

    /// Whether the terminal takes PNG files instead of pixels.
    var sendsFiles: Bool { graphics == .kitty || graphics == .iterm }

    /// The text that shows an image that fits ``box``.
    func text(of response: LoadResponse) async throws -> String {
        switch graphics {
        case .kitty: return Self.kitty(response.encoded?.bytes ?? [])
        case .iterm:
            let bytes = response.encoded?.bytes ?? []
            let base64 = Data(bytes).base64EncodedString()
            return "\u{1B}]1337;File=inline=1;size=\(bytes.count):\(base64)\u{7}\n"
        case .sixel:
            guard let image = response.image else { return "" }
            // The PNG encoder chooses a good palette.
            var options = EncodeOptions()
            #if PNG
            options.png.colors = 256
            #endif
            let file = try await EncodedImage(encoding: image, as: .png, options: options)
            let few = try await DecodedImage(decoding: file.bytes)
            return try await Self.text(of: few) { Sixel.text($0, few.size) } + "\n"
        case .blocks, .auto:
            guard let image = response.image else { return "" }
            return try await Self.text(of: image) { [isTrueColor] in
                TerminalBlocks.text($0, image.size, isTrueColor: isTrueColor)
            }
        }
    }

    /// Calls `draw` with the pixels as RGBA, straight, on a decoding thread.
    private static func text(
        of image: DecodedImage, draw: @escaping @Sendable ([UInt8]) -> String
    ) async throws -> String {
        try await BlockingThreads.decoding.run { cancellation in
            draw(try image.withAlpha(cancellation).withPixels { Array($0) })
        }
    }

    /// A PNG file in kitty's graphics protocol, in pieces of 4,096 characters.
    private static func kitty(_ png: [UInt8]) -> String {
        let text = Array(Data(png).base64EncodedString().utf8)
        var result = ""
        for start in stride(from: 0, to: text.count, by: 4096) {
            let end = min(start + 4096, text.count)
            let keys = start == 0 ? "a=T,f=100,q=2," : ""
            let piece = String(decoding: text[start..<end], as: UTF8.self)
            result += "\u{1B}_G\(keys)m=\(end < text.count ? 1 : 0);\(piece)\u{1B}\\"
        }
        return result + "\n"
    }
}
