import Essentials
import LibC
import TestFixtures
import Testing

/// nginx on a free port of 127.0.0.1 with HTTP/2 over TLS and certificates of an authority of its own, made on the spot.
final class TLSServer {
    let port: Int
    let folder: String
    private let process: pid_t

    /// Whether this machine has what is needed.
    static var isAvailable: Bool {
        [String](["/usr/sbin/nginx", "/usr/bin/openssl"]).allSatisfy { program in access(program, X_OK) == 0 }
    }

    var authority: String { folder + "/ca.pem" }
    var clientCertificate: String { folder + "/client.pem" }
    var clientKey: String { folder + "/client.key" }

    func url(_ path: String, host: String = "127.0.0.1") throws -> URL {
        try #require(URL(string: "https://\(host):\(port)\(path)"))
    }

    /// - Parameters:
    ///   - locations: nginx's configuration of the server's paths.
    ///   - alternatives: whom the certificate is for (RFC 5280 section 4.2.1.6).
    init(_ locations: String, alternatives: String = "IP:127.0.0.1,DNS:localhost") throws {
        var template = Array("/tmp/pipeline-tls-XXXXXX".utf8CString)
        folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        try #require(
            run(
                """
                cd \(folder) && exec 2>/dev/null &&
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority \
                    -keyout ca.key -out ca.pem &&
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server \
                    -addext subjectAltName=\(alternatives) -keyout server.key -out server.csr &&
                openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 2 -copy_extensions copy -out server.pem &&
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=client \
                    -keyout client.key -out client.csr &&
                openssl x509 -req -in client.csr -CA ca.pem -CAkey ca.key -days 2 -out client.pem
                """) == 0)

        let listener: Int32
        (listener, port) = try listenOnLoopback(isInherited: true)
        defer { close(listener) }
        let configuration = """
            daemon off; user root; pid \(folder)/pid; error_log \(folder)/error.log;
            events { }
            http {
                access_log off; client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
                fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(folder)/server.pem; ssl_certificate_key \(folder)/server.key;
                    ssl_client_certificate \(folder)/ca.pem; ssl_verify_client optional;
                    add_header X-Protocol $server_protocol; add_header X-Connection $connection;
                    add_header X-Client $ssl_client_s_dn; root \(folder);
                    \(locations)
                }
            }
            """
        try Data(configuration.utf8).write(to: #require(URL(string: "file://\(folder)/nginx.conf")))
        // The socket is open already: connections wait in it until nginx, which inherits it, takes them.
        process = try spawn("/usr/sbin/nginx", ["-c", "\(folder)/nginx.conf", "-p", folder], inheriting: listener)
    }

    /// Makes a file that the server serves.
    func write(_ name: String, count: Int) throws {
        try Data(repeating: 1, count: count).write(to: #require(URL(string: "file://\(folder)/\(name)")))
    }

    deinit {
        kill(process, SIGTERM)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        _ = run("rm -rf \(folder)")
    }
}

private func run(_ script: String) -> Int32 {
    guard let process = try? spawn("/bin/sh", ["-c", script], inheriting: nil) else { return -1 }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    return status
}

private func spawn(_ program: String, _ arguments: [String], inheriting socket: Int32?) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let socket { posix_spawn_file_actions_adddup2(&actions, socket, 3) }
    // The sockets of other tests are none of its business; those that are not open don't matter.
    for file in Int32(socket == nil ? 3 : 4)..<1024 { posix_spawn_file_actions_addclose(&actions, file) }
    var list: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin:/usr/sbin"), strdup("NGINX=3;"), nil]
    defer { for text in list + environment { free(text) } }
    var process = pid_t()
    try #require(posix_spawn(&process, program, &actions, nil, &list, &environment) == 0)
    return process
}
