import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared

@Suite("Credentials of this machine", .timeLimit(.minutes(5)))
struct CredentialChainTests {
    private let folder: CredentialFolder
    private let clock = ManualClock()

    init() throws { folder = try CredentialFolder() }

    private func find(_ more: [String: String] = [:], clock: (any LoadClock)? = nil) async throws -> S3Credentials {
        try await source(more, clock: clock).current()
    }

    private func source(_ more: [String: String], clock: (any LoadClock)? = nil) -> S3CredentialSource {
        S3CredentialSource(environment: folder.variables.merging(more) { $1 }, clock: clock ?? self.clock)
    }

    /// A service that gives out numbered credentials for an hour, as the Security Token Service does.
    private func tokens() throws -> ScriptedOrigin {
        let (count, clock) = (Lock(0), clock)
        return try ScriptedOrigin { request in
            guard request.path == "/", request.method == "POST" else { return .init(status: 404) }
            let number = count.withLock {
                $0 += 1
                return $0
            }
            let end = clock.now.addingTimeInterval(3600).formatted(.iso8601).replacing("Z", with: ".123Z")
            return .init(
                body: """
                    <AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
                      <AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/images/session</Arn></AssumedRoleUser>
                      <Credentials><AccessKeyId>role\(number)</AccessKeyId><SecretAccessKey>s/+=</SecretAccessKey>
                        <SessionToken>token\(number)</SessionToken><Expiration>\(end)</Expiration></Credentials>
                    </AssumeRoleResult></AssumeRoleResponse>
                    """)
        }
    }

    private func form(_ request: ScriptedOrigin.Request?) throws -> [String: String] {
        let parts = URLComponents(string: "?" + String(decoding: try #require(request).body, as: UTF8.self))
        return Dictionary((parts?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
    }

    @Test("come from the environment first, then from a profile of a file")
    func keys() async throws {
        try folder.write(
            "credentials",
            """
            # mine
            [default]
            aws_access_key_id = one
            aws_secret_access_key=first

            [other] ; theirs
            aws_access_key_id = two
            aws_secret_access_key = second=
            aws_session_token = token
            """)
        try folder.write(
            "config",
            """
            [default]
            aws_access_key_id = ignored
            [profile third one]
            s3 =
              aws_access_key_id = nested
              aws_secret_access_key = nested
            aws_access_key_id = three
            aws_secret_access_key = third
            [sso-session third one]
            aws_access_key_id = other
            """)
        #expect(try await find() == S3Credentials(accessKey: "one", secretKey: "first"))
        #expect(
            try await find(["AWS_PROFILE": "other"])
                == S3Credentials(accessKey: "two", secretKey: "second=", sessionToken: "token"))
        #expect(
            try await find(["AWS_PROFILE": "third one"]) == S3Credentials(accessKey: "three", secretKey: "third"))
        let error = await #expect(throws: LoadError.self) { try await find(["AWS_PROFILE": "none"]) }
        #expect(error.map { "\($0)".contains("AWS_ACCESS_KEY_ID") && "\($0)".contains("profile none") } == true)
        let variables = ["AWS_ACCESS_KEY_ID": "four", "AWS_SECRET_ACCESS_KEY": "fourth", "AWS_SESSION_TOKEN": ""]
        #expect(try await find(variables) == S3Credentials(accessKey: "four", secretKey: "fourth"))
    }

    @Test(
        "that are described wrongly are refused with what to change",
        arguments: [
            (["AWS_ACCESS_KEY_ID": "one"], "", "half of a key"),
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere/token"], "", "AWS_ROLE_ARN"),
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere/token", "AWS_ROLE_ARN": "role"], "", "/nowhere/token"),
            ([:], "[default]\nrole_arn = a", "source_profile or credential_source"),
            ([:], "[default]\nrole_arn = a\nsource_profile = b", "neither file"),
            ([:], "[default]\nrole_arn = a\nsource_profile = default", "its own source_profile"),
            (
                [:], "[default]\nrole_arn = a\nsource_profile = b\n[profile b]\nrole_arn = b\nsource_profile = default",
                "its own source_profile"
            ),
            ([:], "[default]\nrole_arn = a\nsource_profile = b\n[profile b]\nregion = c", "neither keys nor a role"),
            ([:], "[default]\nrole_arn = a\ncredential_source = Elsewhere", "unknown credential_source"),
            ([:], "[default]\nrole_arn = a\ncredential_source = EcsContainer", "where no credentials are"),
            ([:], "[default]\nrole_arn = a\nsource_profile = b\nmfa_serial = c", "code of a person"),
            ([:], "[default]\ncredential_process = cat", "credential_process, which isn't supported"),
            ([:], "[default]\nsso_session = us", "sso_session, which isn't supported"),
            (["AWS_REGION": "evil.example/"], "[default]\nrole_arn = a\nsource_profile = k", "not a region"),
        ] as [([String: String], String, String)])
    func wrong(_ variables: [String: String], _ config: String, _ words: String) async throws {
        try folder.write("config", config)
        try folder.write("credentials", "[k]\naws_access_key_id = key\naws_secret_access_key = hunter2")
        let error = await #expect(throws: LoadError.self) { try await find(variables) }
        #expect(
            error.map { "\($0)".contains(words) && !"\($0)".contains("hunter2") } == true, "\(error.debugDescription)")
    }

    @Test("are those of a role that a token's bearer takes on, with the token of a file that is read each time")
    func webIdentity() async throws {
        let service = try tokens()
        let path = try folder.write("token", "first\n")
        try folder.write(key: "own", secret: "own")
        let source = source([
            "AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_ROLE_ARN": "arn:aws:iam::1:role/a b",
            "AWS_ROLE_SESSION_NAME": "pod-1", "AWS_ENDPOINT_URL_STS": service.url("").absoluteString,
        ])
        let all = try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { try await source.current() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(all.map(\.accessKey)) == ["role1"])
        #expect(all[0].secretKey == "s/+=" && all[0].sessionToken == "token1")
        #expect(all[0].expires == clock.now.addingTimeInterval(3600))
        let form = try form(service.log.requests.first)
        #expect(form["Action"] == "AssumeRoleWithWebIdentity" && form["Version"] == "2011-06-15")
        #expect(form["RoleArn"] == "arn:aws:iam::1:role/a b" && form["RoleSessionName"] == "pod-1")
        #expect(form["WebIdentityToken"] == "first")
        #expect(service.log.requests.first?.headers[.authorization] == nil)
        try folder.write("token", "second")
        clock.advance(by: .seconds(3600))
        #expect(try await source.current().accessKey == "role2")
        #expect(try self.form(service.log.requests.last)["WebIdentityToken"] == "second")
    }

    @Test("are those of a profile's role, which is taken on with the keys of another profile or with its role")
    func roles() async throws {
        let service = try tokens()
        try folder.write("credentials", "[base]\naws_access_key_id = base\naws_secret_access_key = hunter2")
        try folder.write(
            "config",
            """
            [default]
            role_arn = outer
            source_profile = middle
            external_id = 42
            duration_seconds = 900
            region = eu-west-1
            [profile middle]
            role_arn = inner
            role_session_name = me
            source_profile = base
            """)
        #expect(try await find(["AWS_ENDPOINT_URL": service.url("").absoluteString]).accessKey == "role2")
        let (first, second) = (try #require(service.log.requests.first), try #require(service.log.requests.last))
        #expect(try form(first)["RoleArn"] == "inner" && form(first)["RoleSessionName"] == "me")
        #expect(first.headers[.authorization]?.contains("Credential=base/") == true)
        #expect(first.headers[.authorization]?.contains("/us-east-1/sts/aws4_request") == true)
        let form = try form(second)
        #expect(form["RoleArn"] == "outer" && form["ExternalId"] == "42" && form["DurationSeconds"] == "900")
        #expect(second.headers[.authorization]?.contains("Credential=role1/") == true)
        #expect(second.headers[.authorization]?.contains("/eu-west-1/sts/aws4_request") == true)
        #expect(second.headers[try #require(HTTPField.Name("x-amz-security-token"))] == "token1")
    }

    @Test(
        "aren't taken from a service that replies with something else, which errors don't repeat",
        arguments: [
            .init(status: 403, body: "<ErrorResponse><Error><Code>AccessDenied</Code><Message>t0ken</Message></Error>"),
            .init(status: 500, body: "<Code>\u{1b}[31m\n</Code>"), .init(status: 302, headers: [.location: "/t0ken"]),
            .init(body: ""), .init(body: "<Credentials>"), .init(body: [0xFF, 0xFE, 0x00]),
            .init(body: "<Credentials><AccessKeyId></Credentials></AccessKeyId>"),
            .init(
                body: """
                    <Credentials><AccessKeyId>a\r\nX: t0ken</AccessKeyId><SecretAccessKey>b</SecretAccessKey>\
                    <SessionToken>c</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials>
                    """),
            .init(
                body: """
                    <Credentials><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey>\
                    <SessionToken>c</SessionToken><Expiration>soon</Expiration></Credentials>
                    """),
            .endless(Array(repeating: UInt8(ascii: "<"), count: 4096)), .raw("t0ken"),
        ] as [ScriptedOrigin.Reply])
    func hostile(_ reply: ScriptedOrigin.Reply) async throws {
        let service = try ScriptedOrigin { _ in reply }
        let path = try folder.write("token", "t0ken")
        let variables = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_ROLE_ARN": "role",
            "AWS_ENDPOINT_URL_STS": service.url("").absoluteString,
        ]
        let error = await #expect(throws: LoadError.self) { try await find(variables, clock: SystemClock()) }
        let text = error.debugDescription
        #expect(!text.contains("t0ken") && !text.contains("\u{1b}"), "\(text)")
    }

    /// A metadata service of an instance with a role.
    private func instance(_ clock: ManualClock, role: String? = "images") throws -> ScriptedOrigin {
        let service = try ScriptedOrigin()
        let token = try #require(HTTPField.Name("X-aws-ec2-metadata-token"))
        service.route("/latest/api/token") { .init(status: $0.method == "PUT" ? 200 : 405, body: "the-token") }
        service.route("/latest/meta-data/iam/security-credentials/") { request in
            guard request.headers[token] == "the-token" else { return .init(status: 401) }
            return role.map { .init(body: $0) } ?? .init(status: 404)
        }
        service.route("/latest/meta-data/iam/security-credentials/images") { request in
            guard request.headers[token] == "the-token" else { return .init(status: 401) }
            let end = clock.now.addingTimeInterval(3600).formatted(.iso8601)
            return .init(
                body: """
                    {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "instance", "SecretAccessKey": "secret",
                     "Token": "token", "Expiration": "\(end)"}
                    """)
        }
        return service
    }

    @Test("are those of the instance, fetched with a token, after everything else")
    func instanceRole() async throws {
        let service = try instance(clock)
        let variables = [
            "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": service.url("/").absoluteString,
        ]
        let credentials = try await find(variables)
        #expect(credentials.accessKey == "instance" && credentials.sessionToken == "token")
        #expect(credentials.expires == clock.now.addingTimeInterval(3600))
        #expect(service.log.requests.map(\.method) == ["PUT", "GET", "GET"])
        let lifetime = try #require(HTTPField.Name("X-aws-ec2-metadata-token-ttl-seconds"))
        #expect(service.log.requests.first?.headers[lifetime] == "60")
        _ = await #expect(throws: LoadError.self) { try await find() }
        try folder.write(key: "file", secret: "file")
        #expect(try await find(variables).accessKey == "file")
        #expect(service.log.requests.count == 3)
        try folder.write("credentials", "")
        let tokens = try tokens()
        try folder.write("config", "[default]\nrole_arn = a\ncredential_source = Ec2InstanceMetadata")
        let role = try await find(variables.merging(["AWS_ENDPOINT_URL_STS": tokens.url("").absoluteString]) { $1 })
        #expect(role.accessKey == "role1")
        #expect(tokens.log.requests.first?.headers[.authorization]?.contains("Credential=instance/") == true)
    }

    @Test(
        "of an instance without a role, or with an odd one, are refused",
        arguments: [nil, "", "../../user-data", "a b"])
    func noRole(_ role: String?) async throws {
        let service = try instance(clock, role: role)
        let variables = [
            "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": service.url("").absoluteString,
        ]
        let error = await #expect(throws: LoadError.self) { try await find(variables) }
        #expect(error?.code == .refused)
        #expect(service.log.requests.count == 2)
    }

    @Test("aren't waited for where no instance is, and not asked for again at once")
    func elsewhere() async throws {
        let service = try ScriptedOrigin { _ in ScriptedOrigin.Reply(body: "x").stalled() }
        let source = source([
            "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": service.url("").absoluteString,
        ])
        let first = Task { try await source.current() }
        await service.until { $0.requests.count == 1 }
        try await clock.sleepers(1, includingLimits: true)
        clock.advance(by: InstanceCredentials.limit)
        let error = await #expect(throws: LoadError.self) { try await first.value }
        #expect(error?.message.contains("no credentials for S3") == true)
        _ = await #expect(throws: LoadError.self) { try await source.current() }
        #expect(service.log.requests.count == 1)
        clock.advance(by: InstanceCredentials.pause)
        let later = Task { try await source.current() }
        await service.until { $0.requests.count == 2 }
        try await clock.sleepers(1, includingLimits: true)
        clock.advance(by: InstanceCredentials.limit)
        _ = await #expect(throws: LoadError.self) { try await later.value }
    }

    @Test("are given out by moto: for a token, for a role, and for an instance", .withS3)
    func moto() async throws {
        let server = try await S3Server(.moto)
        let endpoint = ["AWS_ENDPOINT_URL_STS": server.endpoint.url.absoluteString, "AWS_REGION": "eu-central-1"]
        let path = try folder.write("token", "e30.e30.e30")
        let role = "arn:aws:iam::123456789012:role/images"
        let web = try await find(
            endpoint.merging(["AWS_WEB_IDENTITY_TOKEN_FILE": path, "AWS_ROLE_ARN": role]) { $1 }, clock: SystemClock())
        #expect(web.sessionToken?.isEmpty == false && web.expires.map { $0 > Date() } == true)
        try folder.write(key: "base", secret: "secret")
        try folder.write("config", "[profile images]\nrole_arn = \(role)\nsource_profile = default")
        let assumed = try await find(endpoint.merging(["AWS_PROFILE": "images"]) { $1 }, clock: SystemClock())
        #expect(assumed.accessKey != "base" && assumed.sessionToken?.isEmpty == false)
        let variables = [
            "AWS_EC2_METADATA_DISABLED": "false", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.endpoint.url.absoluteString,
        ]
        let instance = try await find(variables, clock: SystemClock())
        #expect(instance.accessKey == "test-key" && instance.sessionToken == "test-session-token")
        // The store takes them.
        let store = BlobStore(try server.blobs(credentials: assumed)) { _ in }
        #expect(try await store.write(Array(repeating: 1, count: 1000)) != nil)
    }
}
