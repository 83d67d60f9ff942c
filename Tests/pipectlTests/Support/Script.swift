import Foundation
import TestFixtures

extension Pipectl {
    /// Runs a line of shell in the test's folder, with `pipectl` in its path.
    func shell(_ script: String, environment: [String: String] = [:]) async throws -> Result {
        let (output, errors) = (Pipe(), Pipe())
        let folder = Self.executable.deletingLastPathComponent().path
        let path = folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        let process = try start(
            ["-c", script], executable: URL(filePath: "/bin/sh"), output: output, errors: errors,
            environment: environment.merging(["PATH": path]) { $1 })
        async let written = Self.bytes(of: output)
        async let told = Self.bytes(of: errors)
        let (outputBytes, errorBytes) = (await written, await told)
        return Result(
            status: await Self.status(of: process), output: outputBytes,
            errors: String(decoding: errorBytes, as: UTF8.self))
    }

    /// Puts a test image into the test's folder.
    func add(_ name: String, as path: String) throws {
        let url = folder.appending(path: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: URL(filePath: Pictures.path(name)), to: url)
    }

    /// The bytes of a file in the test's folder.
    func content(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.appending(path: path))) }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: self.path(path)) }

    /// All files below a folder of the test's, with their bytes.
    func tree(_ path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: self.path(path)) {
            var isFolder: ObjCBool = false
            let whole = self.path("\(path)/\(name)")
            if FileManager.default.fileExists(atPath: whole, isDirectory: &isFolder), !isFolder.boolValue {
                files[name] = try content("\(path)/\(name)")
            }
        }
        return files
    }
}
