import Foundation

/// Numbered files in one folder, for the cost of a cache that consists of plain files.
struct PlainFiles {
    private let folder: String

    init(_ folder: String, count: Int, bytes: Int) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for number in 0..<count {
            try Data(DiskFilling.body(number, bytes: bytes)).write(to: URL(filePath: "\(folder)/\(number)"))
        }
    }

    /// Reads a whole file and returns its length.
    func read(_ number: Int) -> Int {
        let file = open("\(folder)/\(number)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return 0 }
        return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            count = max(0, Glibc.read(file, buffer.baseAddress, buffer.count))
        }.count
    }
}
