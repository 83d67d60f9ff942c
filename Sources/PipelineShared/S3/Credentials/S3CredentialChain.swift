import Essentials
import Pipeline
import PipelineHTTP

/// Looks for credentials where Amazon's SDKs do, and in their order: the variables of keys, the role of a profile, web
/// identity, the keys of a profile, the container, and the instance.
struct S3CredentialChain: Sendable {
    /// Credentials, and the files that were looked at for them.
    struct Finding: Sendable {
        let credentials: S3Credentials
        let files: CredentialFiles?
        /// What the files were like before they were read.
        let stamps: [String: String?]

        /// Whether a file has changed since. It blocks.
        var isOutdated: Bool { files.map { $0.stamps != stamps } ?? false }
    }

    private let variables: [String: String]
    private let requests: CredentialRequests
    private let instance: InstanceCredentials

    init(_ variables: [String: String], _ requests: CredentialRequests, _ instance: InstanceCredentials) {
        // A variable that is set to nothing isn't set.
        self.variables = variables.filter { !$0.value.isEmpty }
        (self.requests, self.instance) = (requests, instance)
    }

    /// Finds credentials.
    /// - Throws: `LoadError`, with `refused` if there are none.
    func find() async throws -> Finding {
        if let keys = try keysOfVariables() { return Finding(credentials: keys, files: nil, stamps: [:]) }
        let files = CredentialFiles(variables)
        let (stamps, profiles) = try await BlockingThreads.files.run { _ in (files.stamps, files.read()) }
        let credentials = try await credentials(among: profiles, of: files)
        return Finding(credentials: credentials, files: files, stamps: stamps)
    }

    private func keysOfVariables() throws -> S3Credentials? {
        let (key, secret) = (variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"])
        if let key, let secret {
            return S3Credentials(accessKey: key, secretKey: secret, sessionToken: variables["AWS_SESSION_TOKEN"])
        }
        guard key == nil, secret == nil else {
            throw LoadError(
                .refused, subject: key == nil ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID",
                "The variable is half of a key. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither.")
        }
        return nil
    }

    private func credentials(
        among profiles: CredentialProfiles, of files: CredentialFiles
    ) async throws -> S3Credentials {
        let name = variables["AWS_PROFILE"] ?? "default"
        func none() -> LoadError {
            LoadError(
                .refused, subject: printable(files.credentials),
                """
                There are no credentials for S3. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, add the profile \
                \(printable(name)) to the file, or give this machine a role.
                """)
        }
        // A name that is mistyped must not lead to the credentials of the machine.
        if variables["AWS_PROFILE"] != nil, profiles[name] == nil { throw none() }
        let profile = profiles[name] ?? [:]
        if let found = try await roleCredentials(name, among: profiles, before: []) { return found }
        if let path = variables["AWS_WEB_IDENTITY_TOKEN_FILE"] ?? profile["web_identity_token_file"] {
            guard let role = variables["AWS_ROLE_ARN"] ?? profile["role_arn"] else {
                throw LoadError(
                    .refused, subject: printable(path), "The token of this file needs a role. Set AWS_ROLE_ARN.")
            }
            let session = variables["AWS_ROLE_SESSION_NAME"] ?? profile["role_session_name"]
            return try await tokens(profile).assume(
                AssumedRole(name: role, session: session), withTokenAt: expand(path))
        }
        if let keys = S3Credentials(profile: profile) { return keys }
        if let other = ["credential_process", "sso_session", "sso_start_url"].first(where: { profile[$0] != nil }) {
            throw LoadError(
                .refused, subject: printable(files.configuration),
                "The profile \(printable(name)) has \(other), which isn't supported. Give it keys or a role.")
        }
        if let found = try await container.fetch() { return found }
        if let found = try await instance.fetch(variables, requests) { return found }
        throw none()
    }

    /// The credentials of the role that a profile takes on with those of another profile or place.
    /// - Parameter before: The profiles that lead to this one.
    /// - Returns: `nil` if the profile describes no such role.
    private func roleCredentials(
        _ name: String, among profiles: CredentialProfiles, before: Set<String>
    ) async throws -> S3Credentials? {
        guard let profile = profiles[name], let role = AssumedRole(profile: profile),
            profile["web_identity_token_file"] == nil
        else { return nil }
        func failure(_ why: String) -> LoadError {
            LoadError(.refused, subject: printable(role.name), "The profile \(printable(name)) \(why)")
        }
        if profile["mfa_serial"] != nil { throw failure("needs a code of a person. Use a role that needs none.") }
        let source: S3Credentials
        switch (profile["source_profile"], profile["credential_source"]) {
        case (let parent?, nil):
            guard let values = profiles[parent] else {
                throw failure("has the source_profile \(printable(parent)), which is in neither file.")
            }
            if let keys = S3Credentials(profile: values) {
                source = keys
            } else if parent == name || before.contains(parent) {
                throw failure("is its own source_profile, and has no keys.")
            } else if let found = try await roleCredentials(parent, among: profiles, before: before.union([name])) {
                source = found
            } else if let path = values["web_identity_token_file"], let role = AssumedRole(profile: values) {
                source = try await tokens(values).assume(role, withTokenAt: expand(path))
            } else {
                throw failure("has the source_profile \(printable(parent)), which has neither keys nor a role.")
            }
        case (nil, let place?):
            let found =
                switch place.lowercased() {
                case "environment": try keysOfVariables()
                case "ecscontainer": try await container.fetch()
                case "ec2instancemetadata": try await instance.fetch(variables, requests)
                default:
                    throw failure(
                        "has an unknown credential_source. Write Environment, EcsContainer or Ec2InstanceMetadata.")
                }
            guard let found else { throw failure("has the credential_source \(place), where no credentials are.") }
            source = found
        default: throw failure("has a role, which needs either source_profile or credential_source.")
        }
        return try await tokens(profile).assume(role, with: source)
    }

    private var container: ContainerCredentials { ContainerCredentials(variables: variables, requests: requests) }

    private func tokens(_ profile: [String: String]) throws -> SecurityTokens {
        try SecurityTokens(variables, profile: profile, requests)
    }

    private func expand(_ path: String) -> String { CredentialFiles.expand(path, home: variables["HOME"]) }
}

extension S3Credentials {
    /// Takes the keys of a profile; `nil` if it has none.
    init?(profile: [String: String]) {
        guard let key = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] else { return nil }
        self.init(accessKey: key, secretKey: secret, sessionToken: profile["aws_session_token"])
    }
}
