import Glibc
import Pipeline

/// The lines of a journal, after its header: a digest, then fields separated by tabs.
enum JournalLines {
    /// The first line of each journal, so that no other file is taken for one.
    private static let header = Array("# pipectl journal 1\n".utf8)

    /// Writes the header into an empty file.
    /// - Returns: 0, or the error number of the system; `nil` if the file is not a journal.
    static func begin(_ descriptor: Int32) -> Int32? {
        var start = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &start, start.count, 0)
        guard count >= 0 else { return errno }
        let content = start.prefix(count)
        if content.starts(with: header) { return 0 }
        // Journals of version 0.1 have no header. A full disk leaves a part of it.
        let isOlder = content.firstIndex(of: UInt8(ascii: "\n")).map { fields(of: content[..<$0]) != nil } ?? false
        guard !isOlder else { return 0 }
        guard header.starts(with: content) else { return nil }
        guard ftruncate(descriptor, 0) == 0 else { return errno }
        let number = StandardStream.write(header, to: descriptor)
        return number == 0 && fdatasync(descriptor) != 0 ? errno : number
    }

    static func line(_ fields: [String]) -> [UInt8] {
        let text = fields.map(escaped).joined(separator: "\t")
        return Array("\(Digest(of: text).description.prefix(16))\t\(text)\n".utf8)
    }

    /// Reads the lines of an open file; damaged ones are left out.
    /// - Parameter body: Called with each line and where it begins.
    static func each(in descriptor: Int32, _ body: (_ line: [String], _ offset: Int) -> Void) {
        var rest: [UInt8] = []
        var (offset, start) = (0, 0)
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = pread(descriptor, &chunk, chunk.count, offset), count > 0 || count < 0 && errno == EINTR
        {
            guard count > 0 else { continue }
            offset += count
            var new = chunk[..<count]
            while let end = new.firstIndex(of: UInt8(ascii: "\n")) {
                rest += new[..<end]
                if let fields = fields(of: rest[...]) { body(fields, start) }
                start += rest.count + 1
                rest.removeAll(keepingCapacity: true)
                new = new[(end + 1)...]
            }
            rest += new
        }
    }

    /// Reads the line that begins at a place; `nil` if there is none.
    static func line(at offset: Int, in descriptor: Int32) -> [String]? {
        var chunk = [UInt8](repeating: 0, count: 1 << 10)
        while true {
            let count = pread(descriptor, &chunk, chunk.count, offset)
            guard count > 0 else { return nil }
            if let end = chunk[..<count].firstIndex(of: UInt8(ascii: "\n")) { return fields(of: chunk[..<end]) }
            guard count == chunk.count else { return nil }
            chunk = [UInt8](repeating: 0, count: chunk.count * 4)
        }
    }

    private static func fields(of line: ArraySlice<UInt8>) -> [String]? {
        let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
        guard parts.count == 2,
            UInt64(String(decoding: parts[0], as: UTF8.self), radix: 16) == Digest(of: parts[1]).number
        else { return nil }
        return parts[1].split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
            unescaped(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Whether a path still names an open file; sets `errno` to 0 if it names another or none.
    static func isOpen(_ descriptor: Int32, at path: String) -> Bool {
        var (mine, named) = (stat(), stat())
        let isSame =
            fstat(descriptor, &mine) == 0 && path.withPath { stat($0, &named) } == 0 && mine.st_ino == named.st_ino
            && mine.st_dev == named.st_dev
        if !isSame { errno = 0 }
        return isSame
    }

    /// Replaces a journal by one with only some of its lines. Leaves it as it is if that fails.
    /// - Parameters:
    ///   - descriptor: The journal, open and locked; on return the new one, open and locked.
    ///   - lines: Calls its argument with each line to keep.
    /// - Returns: Whether it was replaced.
    static func replace(_ descriptor: inout Int32, at path: String, _ lines: (([String]) -> Void) -> Void) -> Bool {
        let temporary = path + ".new"
        let file = temporary.withPath { open($0, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0o600) }
        guard file >= 0 else { return false }
        var bytes = header
        var number: Int32 = flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
        func write() {
            if number == 0 { number = StandardStream.write(bytes, to: file) }
            bytes.removeAll(keepingCapacity: true)
        }
        lines { fields in
            bytes += line(fields)
            if bytes.count > 1 << 16 { write() }
        }
        write()
        guard number == 0, fdatasync(file) == 0, TemporaryName.rename(temporary, to: path) == 0 else {
            TemporaryName.remove(temporary)
            close(file)
            return false
        }
        close(descriptor)
        descriptor = file
        return true
    }

    /// Escapes tabs, newlines and percent signs. A path may contain anything but a zero byte.
    private static func escaped(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    switch scalar {
                    case "%": Array("%25".unicodeScalars)
                    case "\t": Array("%09".unicodeScalars)
                    case "\n": Array("%0A".unicodeScalars)
                    default: [scalar]
                    }
                }))
    }

    private static func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return text.replacing("%0A", with: "\n").replacing("%09", with: "\t").replacing("%25", with: "%")
    }
}
