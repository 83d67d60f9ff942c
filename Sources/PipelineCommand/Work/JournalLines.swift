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
    static func all(in descriptor: Int32) -> [[String]] {
        (StandardStream.readAll(descriptor) ?? []).split(separator: UInt8(ascii: "\n")).compactMap(fields)
    }

    private static func fields(of line: ArraySlice<UInt8>) -> [String]? {
        let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
        guard parts.count == 2,
            Digest(of: parts[1]).description.prefix(16).utf8.elementsEqual(parts[0])
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

    /// Replaces a journal of mostly outdated lines by one with only the current lines. Leaves it as it is if that
    /// fails.
    /// - Parameter descriptor: The journal, open and locked; on return the new one, open and locked.
    static func compact(_ descriptor: inout Int32, at path: String, to lines: [[String]]) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 1_000_000 else { return }
        let bytes = header + lines.flatMap { line($0) }
        guard bytes.count < Int(status.st_size) / 2 else { return }
        let temporary = path + ".new"
        let file = temporary.withPath { open($0, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0o600) }
        guard file >= 0 else { return }
        if flock(file, LOCK_EX | LOCK_NB) == 0, StandardStream.write(bytes, to: file) == 0, fdatasync(file) == 0,
            TemporaryName.rename(temporary, to: path) == 0
        {
            close(descriptor)
            descriptor = file
        } else {
            TemporaryName.remove(temporary)
            close(file)
        }
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
