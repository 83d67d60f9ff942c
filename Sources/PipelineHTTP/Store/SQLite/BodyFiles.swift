import LibC

/// The bodies that are too long for the database, one file each.
struct BodyFiles: Sendable {
    /// The folder that holds them.
    let folder: String

    /// Writes a body to a new file, which is complete and synced to disk before it gets its name.
    /// - Returns: the file's name.
    func write(_ body: [UInt8]) throws(FileError) -> String {
        let name = BodyName.random()
        let temporary = path(name + BodyName.unfinished)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError("open a file in \(folder)") }
        do throws(FileError) {
            defer { close(file) }
            try write(body, to: file)
            guard syncContent(file) == 0 else { throw FileError("fdatasync in \(folder)") }
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

    /// Reads a body of a known length and checksum.
    /// - Returns: the body; `nil` if there is no such file, its content differs, or the name is not that of a body.
    func read(_ name: String, length: Int, checksum: Int64) -> [UInt8]? {
        guard BodyName.isOwn(name), length <= Self.longest else { return nil }
        // Non-blocking: it may have been replaced by a pipe.
        let file = open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == length else {
            return nil
        }
        var sum = BodyChecksum()
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            while count < length {
                // In parts that are still in the processor's cache when they are summed.
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<min(count + Self.part, length)])
                guard readFully(file, into: part) else { return }
                sum.update(UnsafeRawBufferPointer(part))
                count += part.count
            }
        }
        return bytes.count == length && sum.value == checksum ? bytes : nil
    }

    private static let part = 128 << 10

    /// A sparse file may be as long as a damaged row says without using disk space; its bytes would use memory.
    private static let longest = 4 << 30

    /// Fills a buffer; returns false if the file ends before that.
    private func readFully(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var filled = 0
        while filled < buffer.count {
            let got = LibC.read(file, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { return false }
            filled += got
        }
        return true
    }

    /// Whether there is a body of this name.
    func has(_ name: String) -> Bool { BodyName.isOwn(name) && access(path(name), F_OK) == 0 }

    /// Removes a body if the name is that of a body. A missing file is not a failure.
    func remove(_ name: String) {
        if BodyName.isOwn(name) { unlink(path(name)) }
    }

    /// Removes a body that no row points to, finished or not.
    func removeOrphan(_ name: String) { unlink(path(name)) }

    /// Returns the names of all bodies, unfinished ones included. Other files in the folder are left out.
    func names() -> [String] {
        (FolderListing.names(in: folder) ?? []).filter { name in
            let finished = name.hasSuffix(BodyName.unfinished) ? String(name.dropLast(BodyName.unfinished.count)) : name
            return BodyName.isCurrent(finished)
                || BodyName.isEarlier(finished) && BodyName.looksRandom(finished) && isPrivate(path(name))
        }
    }

    /// Whether it is a plain file that only this user may access, as every body is.
    private func isPrivate(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
            && status.st_mode & 0o077 == 0
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    private func write(_ body: [UInt8], to file: Int32) throws(FileError) {
        var written = 0
        while written < body.count {
            let count = body.withUnsafeBytes {
                LibC.write(file, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw FileError("write in \(folder)") }
            written += count
        }
    }
}
