import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Credentials", .timeLimit(.minutes(5)))
struct CredentialsTests {
    @Test("Basic credentials are as in RFC 7617 section 2, of any characters in UTF-8")
    func basic() throws {
        #expect(
            try HTTPFields.basic(user: "Aladdin", password: "open sesame")
                == [.authorization: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        #expect(try HTTPFields.basic(user: "test", password: "123\u{a3}") == [.authorization: "Basic dGVzdDoxMjPCow=="])
        #expect(try HTTPFields.basic(user: "", password: "a:b") == [.authorization: "Basic OmE6Yg=="])
    }

    @Test("A bearer token is as in RFC 6750 section 2.1")
    func bearer() throws {
        #expect(try HTTPFields.bearer("mF_9.B5f-4.1JqM~+/==") == [.authorization: "Bearer mF_9.B5f-4.1JqM~+/=="])
    }

    @Test("What can't be sent is an error that does not repeat it")
    func invalid() async {
        for (user, password) in [("a:secret", "b"), ("secret\n", "b"), ("a", "secret\r\nX: y"), ("a", "secret\u{7f}")] {
            let error = await failure(.invalidHeader) { try HTTPFields.basic(user: user, password: password) }
            #expect(error.map { "\($0)".contains("secret") } == false)
        }
        for token in ["", "=", "se cret", "secret=a", "s\u{e9}cret", "secret\r\nX: y"] {
            let error = await failure(.invalidHeader) { try HTTPFields.bearer(token) }
            #expect(error.map { "\($0)".contains("secret") } == false)
        }
    }

    @Test("They reach their origin, after a redirect within it too, and no other origin")
    func redirects() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "own") }
        let other = try ScriptedOrigin { _ in .init(body: "other") }
        origin.script("/same", .redirect(to: "/kept"))
        origin.route("/away") { [port = other.port] _ in .redirect(to: "http://127.0.0.1:\(port)/") }
        origin.route("/name") { [port = origin.port] _ in .redirect(to: "http://localhost:\(port)/renamed") }
        let client = CurlClient(.local)
        for credentials in try [HTTPFields.basic(user: "me", password: "secret"), .bearer("secret")] {
            let seen = origin.log.requests.count
            for path in ["/same", "/away", "/name"] { _ = try await client.get(origin.url(path), headers: credentials) }
            let requests = origin.log.requests[seen...]
            #expect(requests.map(\.path) == ["/same", "/kept", "/away", "/name", "/renamed"])
            #expect(
                requests.map { $0.headers[.authorization] }
                    == [0, 0, 0, 0, 1].map { $0 == 0 ? credentials[.authorization] : nil })
            #expect(other.log.requests.last?.headers[.authorization] == nil)
        }
        #expect(other.log.requests.count == 2)
    }
}
