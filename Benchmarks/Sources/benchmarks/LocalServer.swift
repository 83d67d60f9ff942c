import Foundation
import Pipeline
import Stages

/// An nginx on a free port of 127.0.0.1 that serves one file.
struct LocalServer {
    /// The file's URL.
    let url: URL
    private let folder: URL
    private let process = Process()

    /// Starts it and waits until it responds.
    init(bodyBytes: Int) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "transfers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Started as root, the worker runs as nobody.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try Data(repeating: 7, count: bodyBytes).write(to: folder.appending(path: "file"))
        let port = try Self.freePort()
        guard let url = URL(string: "http://127.0.0.1:\(port)/file") else { throw Unavailable() }
        self.url = url
        try Self.configuration(folder: folder.path, port: port)
            .write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        process.executableURL = URL(filePath: "/usr/sbin/nginx")
        process.arguments = ["-e", "stderr", "-p", folder.path, "-c", folder.appending(path: "nginx.conf").path]
        try process.run()
        try await waitForAnswer()
    }

    /// Stops it and removes its files.
    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private func waitForAnswer() async throws {
        let client = CurlClient(CurlClient.Options(addresses: .any))
        for _ in 0..<100 {
            if await (try? client.send(TransferRequest(url: url)))?.status == 200 { return }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        stop()
        throw Unavailable()
    }

    private static func configuration(folder: String, port: Int) -> String {
        """
        daemon off;
        worker_processes 1;
        pid \(folder)/pid;
        error_log stderr error;
        events { worker_connections 256; }
        http {
            access_log off;
            sendfile on;
            keepalive_requests 1000000;
            open_file_cache max=16;
            client_body_temp_path \(folder);
            proxy_temp_path \(folder);
            fastcgi_temp_path \(folder);
            uwsgi_temp_path \(folder);
            scgi_temp_path \(folder);
            server {
                listen 127.0.0.1:\(port);
                root \(folder);
            }
        }
        """
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> Int {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return bind(socket, address, length) == 0 ? getsockname(socket, address, &length) : -1
        }
        guard status == 0 else { throw Unavailable() }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// nginx did not start; the packages nginx-light and curl have to be installed.
    struct Unavailable: Error {}
}
