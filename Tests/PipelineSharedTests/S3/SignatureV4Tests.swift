import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineShared

@Suite("Signatures of S3 requests")
struct SignatureV4Tests {
    /// A request that another implementation has signed; see Scripts/signatures.py.
    private struct Case: Decodable {
        let method: String
        let url: String
        let headers: [String: String]
        let body: String
        let token: String?
        let time: Double
        let authorization: String
    }

    private func request(
        _ method: String, _ url: String, _ headers: [String: String] = [:], body: String = ""
    ) throws -> TransferRequest {
        var fields = HTTPFields()
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        return TransferRequest(
            method: try #require(HTTPRequest.Method(method)), url: try #require(URL(string: url)), headers: fields,
            body: body.isEmpty ? nil : Array(body.utf8))
    }

    @Test("agree with botocore's for unusual keys, queries and fields")
    func botocore() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "signatures.json")
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
        #expect(cases.count >= 30)
        for item in cases {
            let credentials = S3Credentials(
                accessKey: "AKIDEXAMPLE", secretKey: "secret/key+example", sessionToken: item.token)
            let request = try request(item.method, item.url, item.headers, body: item.body)
            let signed = SignatureV4(credentials: credentials, region: "eu-central-1")
                .sign(request, at: Date(timeIntervalSince1970: item.time))
            #expect(signed.headers[.authorization] == item.authorization, "\(item.url)")
        }
    }

    @Test(
        "agree with the worked examples of the protocol's documentation",
        arguments: [
            (
                "GET", "/test.txt", ["Range": "bytes=0-9"], "",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "PUT", "/test%24file.text",
                ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
                "Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
            ("GET", "/?lifecycle", [:], "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            (
                "GET", "/?max-keys=2&prefix=J", [:], "",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ] as [(String, String, [String: String], String, String)])
    func examples(
        _ method: String, _ path: String, _ headers: [String: String], _ body: String, _ signature: String
    ) throws {
        let credentials = S3Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let request = try request(method, "https://examplebucket.s3.amazonaws.com\(path)", headers, body: body)
        let signed = SignatureV4(credentials: credentials, region: "us-east-1")
            .sign(request, at: Date(timeIntervalSince1970: 1_369_353_600))
        #expect(signed.headers[.authorization]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test("are added for the store alone, and seen in no response")
    func client() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "object") }
        let clock = ManualClock()
        let endpoint = try S3Endpoint("http://127.0.0.1:\(origin.port)")
        let client = SignedForS3(CurlClient(.local), at: endpoint, clock: clock) {
            S3Credentials(accessKey: "key", secretKey: "secret", sessionToken: "token")
        }
        let response = try await client.send(
            TransferRequest(url: origin.url("/bucket/a b!.jpg".replacing(" ", with: "%20"))))
        #expect(response.status == 200)
        #expect(response.url == origin.url("/bucket/a%20b!.jpg"))
        let sent = try #require(origin.log.requests.first)
        #expect(sent.path == "/bucket/a%20b%21.jpg")
        #expect(
            sent.headers[.authorization]?.hasPrefix("AWS4-HMAC-SHA256 Credential=key/20231114/us-east-1/s3/") == true)
        #expect(sent.headers[try #require(HTTPField.Name("x-amz-security-token"))] == "token")
        _ = try await client.send(TransferRequest(url: origin.url("/other", host: "localhost")))
        #expect(origin.log.requests.last?.headers[.authorization] == nil)
    }
}

@Suite("Credentials for S3")
struct S3CredentialsTests {
    @Test("show no secret")
    func redaction() {
        let credentials = S3Credentials(accessKey: "key", secretKey: "hunter2", sessionToken: "token2")
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!"\(credentials)\(dumped)".contains("2"))
    }
}
