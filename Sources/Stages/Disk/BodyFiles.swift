import Glibc

/// The bodies that are too long for the database, a file each.
struct BodyFiles: Sendable {
    /// The folder in which they lie.
    let folder: String

    /// Writes a body to a new file, whole and on the medium before it gets its name.
    /// - Returns: the file's name.
    func write(_ body: [UInt8]) throws(FileError) -> String {
        let name =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        let temporary = "\(folder)/\(name).new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError("open a file in \(folder)") }
        do throws(FileError) {
            defer { close(file) }
            try write(body, to: file)
            guard fdatasync(file) == 0 else { throw FileError("fdatasync in \(folder)") }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path(name)) == 0 else {
            let error = FileError("rename in \(folder)")
            unlink(temporary)
            throw error
        }
        return name
    }

    /// A body of a known length and checksum, or `nil` if there is no such file or it holds something else.
    func read(_ name: String, length: Int, checksum: Int64) -> [UInt8]? {
        let file = open(path(name), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, Int(status.st_size) == length else { return nil }
        var sum = BodyChecksum()
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            while count < length {
                // In parts that are still in the processor's cache when they are summed up.
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<min(count + Self.part, length)])
                guard readFully(file, into: part) else { return }
                sum.update(UnsafeRawBufferPointer(part))
                count += part.count
            }
        }
        return bytes.count == length && sum.value == checksum ? bytes : nil
    }

    private static let part = 128 << 10

    /// Fills a buffer; false if the file ends before that.
    private func readFully(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var filled = 0
        while filled < buffer.count {
            let got = Glibc.read(file, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { return false }
            filled += got
        }
        return true
    }

    /// Whether there is such a file.
    func has(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    /// Removes a file; one that is gone is no failure.
    func remove(_ name: String) { unlink(path(name)) }

    /// The names of all files, unfinished ones included.
    func names() -> [String] {
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    private func write(_ body: [UInt8], to file: Int32) throws(FileError) {
        var written = 0
        while written < body.count {
            let count = body.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw FileError("write in \(folder)") }
            written += count
        }
    }
}
