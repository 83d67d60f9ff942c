import Foundation

/// The processes of this machine, as the kernel lists them.
struct Processes {
    struct Entry {
        let number: Int32
        let name: String
        let parent: Int32
        let isZombie: Bool
    }

    let all: [Entry]

    init() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        all = names.compactMap { Int32($0) }.compactMap { number in
            guard let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
                let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")")
            else { return nil }
            let rest = text[close...].dropFirst(2).split(separator: " ")
            guard rest.count > 1, let parent = Int32(rest[1]) else { return nil }
            return Entry(
                number: number, name: String(text[text.index(after: open)..<close]), parent: parent,
                isZombie: rest[0] == "Z")
        }
    }

    func children(of process: Int32) -> [Entry] { all.filter { $0.parent == process } }
}
