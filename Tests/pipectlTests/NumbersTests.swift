import Foundation
import Testing

@Suite("Numbers on the command line")
struct NumbersTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "photo.jpg")
    }

    /// What a number may be given as. A sanitizer's build takes seconds for each usage error, and gets two of them.
    #if SANITIZE
    private static let extremes = ["-1", "9223372036854775807"]
    #else
    private static let extremes = [
        "0", "-1", "99999999999999999999", "9223372036854775807", "1e308", "nan", "1.5", "",
    ]
    #endif

    @Test(
        "never end the program, however extreme: each is taken, or refused with status 1 or 2 and a message",
        arguments: [
            "thumb photo.jpg -o a.png -y -s %", "thumb photo.jpg -o a.png -y -s %x%!",
            "thumb photo.jpg -o a.png -y -s x%",
            "thumb photo.jpg -o a.png -y -s %x% --crop north", "thumb photo.jpg -o a.png -y -s 8 -j %",
            "thumb photo.jpg -o a.jpg -y -s 8 -Q %", "thumb photo.jpg -o a.webp -y -s 8 --effort %",
            "thumb photo.jpg -o a.jpg -y -s 8 --max-bytes %", "thumb photo.jpg -o a.png -y -s 8 --memory %",
            "thumb photo.jpg -o a.png -y -s 8 --memory %T", "thumb photo.jpg -o a.png -y -s 8 --max-pixels %",
            "thumb photo.jpg -o a.png -y -s 8 --max-side %",
            "thumb photo.jpg -o a.png -y -s 8 --max-source-bytes %", "thumb photo.jpg -o a.png -y -s 8 --frames %",
            "srcset photo.jpg -y -w %", "srcset photo.jpg -y -w %,%",
            "batch photo.jpg -y -s 8 -o out --shard %/%", "batch photo.jpg -y -s 8 -o out --shard 1/%",
            "load photo.jpg --max-pixel-size %", "load photo.jpg --max-pixel-size %x%",
            "load photo.jpg --expire-after %",
            "load photo.jpg --policy returnCacheElseLoad --cache-delay -%", "plan --download-delay %",
            "cache ls --older-than %d", "cache ls --older-than %w --created", "cache prune --older-than %w",
            "cache prune --max-size %", "cache prune --max-size %T", "prefetch file:///x -j %",
            "run photo.jpg -y -o a.png --ops resize=%", "run photo.jpg -y -o a.png --ops resize=%:%:fit=cover",
            "run photo.jpg -y -o a.png --ops resize=%:%:fit=contain", "run photo.jpg -y -o a.png --ops crop=%:%:%:%",
            "run photo.jpg -y -o a.png --ops pad=%:%", "run photo.jpg -y -o a.png --ops blur=%",
            "run photo.jpg -y -o a.png --ops sharpen=%:%", "run photo.jpg -y -o a.png --ops rotate=%",
            "run photo.jpg -y -o a.png --ops roundCorners=%", "run photo.jpg -y -o a.png --ops adjust=%:%:%:%",
            "run photo.jpg -y -o a.png --ops trim=%", "run photo.jpg -y -o a.png --ops crop=aspect=%/%",
            "thumb photo.jpg -o a.png -y --crop %:%", "thumb photo.jpg -o a.png -y --crop %x%+%+%",
            "run photo.jpg -y -o a.png --ops composite=photo.jpg:centre:%:%:%:%",
        ])
    func extremes(line: String) async throws {
        let script = Self.extremes.map { number in
            "echo '\(line)' '\(number)'; pipectl \(line.replacing("%", with: number)) >/dev/null 2>error; "
                + "s=$?; echo \"= $s\"; test $s = 0 || test -s error || echo silent"
        }
        let result = try await pipectl.shell(script.joined(separator: "\n"))
        let statuses = result.lines.filter { $0.hasPrefix("= ") }
        #expect(statuses.count == Self.extremes.count)
        #expect(statuses.allSatisfy { ["= 0", "= 1", "= 2"].contains($0) }, "\(result.text)")
        #expect(!result.lines.contains("silent"), "\(result.text)")
    }

    @Test("may stand right behind a short option")
    func joined() async throws {
        let result = try await pipectl.shell("pipectl thumb photo.jpg -s10x10 -j2 -Q50 -fjpg -oa.jpg; test -s a.jpg")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await pipectl.shell("pipectl srcset photo.jpg -w20").status == 0)
    }
}
